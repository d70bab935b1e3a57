// What somebody typed, for a message about it.
#pragma once

#include <string>
#include <string_view>

namespace stackpack::bytes {

/// `text` between single quotes; of a long one the beginning, and its length.
std::string quoted(std::string_view text);

}  // namespace stackpack::bytes
