// What stands for a callstack without frames in reports and in texts that are read again.
#pragma once

#include <string_view>

namespace stackpack::core {

inline constexpr std::string_view kNoCallstack = "[no callstack]";

}  // namespace stackpack::core
