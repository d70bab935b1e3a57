#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stackpack::bytes {

/// utf8_length() of text that does not begin with ASCII.
std::size_t long_utf8_length(std::string_view text);

/// Bytes of the well-formed sequence at the front of `text`, which is not empty; 0 when there is
/// none: overlong forms, surrogates and what is above U+10FFFF are not well-formed.
inline std::size_t utf8_length(std::string_view text) {
  return static_cast<unsigned char>(text.front()) < 0x80 ? 1 : long_utf8_length(text);
}

/// The code point of a well-formed sequence.
char32_t code_point_of(std::string_view sequence);

/// Appends a code point, at most U+10FFFF.
void append_utf8(char32_t point, std::string& out);

/// `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace stackpack::bytes
