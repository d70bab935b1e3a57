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

// The code point of a well-formed sequence.
char32_t code_point(std::string_view sequence) {
  constexpr unsigned kContinuationBits = 6;
  constexpr std::uint8_t kContinuationMask = 0x3F;
  if (sequence.size() == 1) {
    return byte_at(sequence, 0);
  }
  char32_t point = byte_at(sequence, 0) & (0x7FU >> sequence.size());
  for (std::size_t i = 1; i < sequence.size(); ++i) {
    point = point << kContinuationBits | (byte_at(sequence, i) & kContinuationMask);
  }
  return point;
}

// What moves a cursor, begins an escape sequence (C0, DEL, C1), ends a line, or turns text around
// (Unicode 15, "Bidi_Control").
bool is_control(char32_t point) {
  return point < U' ' || (point >= 0x7F && point <= 0x9F) || point == 0x061C || point == 0x200E ||
         point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

void append_bytes_as_hex(std::string& out, std::string_view bytes) {
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    out += "\\x";
    out += kHexDigits[byte_at(bytes, i) >> 4];
    out += kHexDigits[byte_at(bytes, i) & 0xF];
  }
}

// Every character as it is or, if a terminal would not just show it, by its bytes.
void append_printable(std::string& out, std::string_view text, bool double_backslashes) {
  while (!text.empty()) {
    const std::size_t size = sequence_size(text);
    const std::string_view sequence = text.substr(0, size == 0 ? 1 : size);
    text.remove_prefix(sequence.size());
    if (sequence == "\\" && double_backslashes) {
      out += "\\\\";
    } else if (sequence == "\t") {
      out += "\\t";
    } else if (sequence == "\n") {
      out += "\\n";
    } else if (size == 0 || is_control(code_point(sequence))) {
      append_bytes_as_hex(out, sequence);
    } else {
      out += sequence;
    }
  }
}

}  // namespace

void append_escaped(std::string& out, std::string_view text) {
  append_printable(out, text, true);
}

void append_message(std::string& out, std::string_view text) {
  append_printable(out, text, false);
}

std::string escape_json_controls(std::string_view json) {
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  std::string out;
  while (!json.empty()) {
    const std::size_t size = sequence_size(json);
    const std::string_view sequence = json.substr(0, size == 0 ? 1 : size);
    json.remove_prefix(sequence.size());
    const char32_t point = size == 0 ? U' ' : code_point(sequence);
    if (point <= 0x7E || !is_control(point)) {
      out += sequence;
      continue;
    }
    out += "\\u";  // all of them have four digits
    for (unsigned shift = 16; shift > 0;) {
      shift -= 4;
      out += kHexDigits[(point >> shift) & 0xF];
    }
  }
  return out;
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
