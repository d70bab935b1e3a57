#pragma once

#include <string_view>

/// What makes a terminal write in a colour, and in its own again.
namespace stackpack::cli::colours {

inline constexpr std::string_view kRed = "\x1b[31m";
inline constexpr std::string_view kGreen = "\x1b[32m";
inline constexpr std::string_view kYellow = "\x1b[33m";
inline constexpr std::string_view kPlain = "\x1b[0m";

}  // namespace stackpack::cli::colours
