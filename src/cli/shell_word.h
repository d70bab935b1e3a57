#pragma once

#include <string>
#include <string_view>

namespace stackpack::cli {

/// As a shell takes it back, byte by byte, for one word. Not for a terminal: see
/// shown_shell_word().
std::string shell_word(std::string_view word);

/// The same without what a terminal would obey.
std::string shown_shell_word(std::string_view word);

}  // namespace stackpack::cli
