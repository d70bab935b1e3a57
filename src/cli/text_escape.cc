#include "cli/text_escape.h"

#include <cstddef>
#include <cstdint>

namespace stackpack::cli {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::uint8_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<std::uint8_t>(text[at]);
}

// Bytes of the well-formed UTF-8 sequence at the front of `text`; 0 when there is none. The table
// of the Unicode standard (3-7): no overlong forms, no surrogates, nothing above U+10FFFF.
std::size_t sequence_size(std::string_view text) {
  const std::uint8_t lead = byte_at(text, 0);
  if (lead < 0x80) {
    return 1;
  }
  std::size_t size = 0;
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    size = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    size = 3;
    low = lead == 0xE0 ? 0xA0 : low;
    high = lead == 0xED ? 0x9F : high;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    size = 4;
    low = lead == 0xF0 ? 0x90 : low;
    high = lead == 0xF4 ? 0x8F : high;
  }
  if (size == 0 || text.size() < size || byte_at(text, 1) < low || byte_at(text, 1) > high) {
    return 0;
  }
  for (std::size_t i = 2; i < size; ++i) {
    if (byte_at(text, i) < 0x80 || byte_at(text, i) > 0xBF) {
      return 0;
    }
  }
  return size;
}

}  // namespace

void append_escaped(std::string& out, std::string_view text) {
  constexpr std::uint8_t kDelete = 0x7F;
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  for (const char letter : text) {
    const auto byte = static_cast<std::uint8_t>(letter);
    if (letter == '\\') {
      out += "\\\\";
    } else if (letter == '\t') {
      out += "\\t";
    } else if (letter == '\n') {
      out += "\\n";
    } else if (byte < ' ' || byte == kDelete) {
      out += "\\x";
      out += kHexDigits[byte >> 4];
      out += kHexDigits[byte & 0xF];
    } else {
      out += letter;
    }
  }
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = sequence_size(text);
    if (size == 0) {
      return false;
    }
    text.remove_prefix(size);
  }
  return true;
}

std::string to_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = sequence_size(text);
    result += size == 0 ? kReplacement : text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return result;
}

}  // namespace stackpack::cli
