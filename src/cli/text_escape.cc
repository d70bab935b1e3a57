#include "cli/text_escape.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "bytes/byte_text.h"
#include "bytes/utf8.h"

namespace stackpack::cli {

namespace {

std::uint8_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<std::uint8_t>(text[at]);
}

struct PointRange {
  char32_t first;
  char32_t last;
};

// What moves a cursor, begins an escape sequence (C0, DEL, C1), ends a line, turns text around or
// is not seen at all (Unicode 15, "Bidi_Control" and "Default_Ignorable_Code_Point", and the marks
// of interlinear text).
constexpr PointRange kHidden[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},       {0xAD, 0xAD},       {0x034F, 0x034F},   {0x061C, 0x061C},
    {0x115F, 0x1160}, {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},
    {0x2060, 0x206F}, {0x3164, 0x3164},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},
    {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

bool is_hidden(char32_t point) {
  return std::any_of(std::begin(kHidden), std::end(kHidden), [point](const PointRange& range) {
    return range.first <= point && point <= range.last;
  });
}

void append_bytes_as_hex(std::string& out, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += "\\x";
    bytes::append_hex(out, byte_at(text, i), 2);
  }
}

void append_json_unit(std::string& out, char32_t unit) {
  out += "\\u";
  bytes::append_hex(out, unit, 4);
}

constexpr char kNone = '\x7F';

// Bytes at the front of `text` that every terminal shows as they are: ASCII but for controls and
// `stop`. Nearly all text is of these; looking for the end of a run of them is fast.
std::size_t plain_bytes(std::string_view text, char stop) {
  std::size_t size = 0;
  while (size < text.size() && byte_at(text, size) >= 0x20 && byte_at(text, size) < 0x7F &&
         text[size] != stop) {
    ++size;
  }
  return size;
}

// Every character as it is or, if a terminal would not just show it, by its bytes.
void append_printable(std::string& out, std::string_view text, bool double_backslashes) {
  while (true) {
    const std::size_t plain = plain_bytes(text, '\\');
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) {
      return;
    }
    const std::size_t size = bytes::utf8_length(text);
    const std::string_view sequence = text.substr(0, size == 0 ? 1 : size);
    text.remove_prefix(sequence.size());
    if (sequence == "\\" && double_backslashes) {
      out += "\\\\";
    } else if (sequence == "\t") {
      out += "\\t";
    } else if (sequence == "\n") {
      out += "\\n";
    } else if (size == 0 || is_hidden(bytes::code_point_of(sequence))) {
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

std::string markup_of(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string escape_json_controls(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (true) {
    const std::size_t plain = plain_bytes(json, kNone);
    out += json.substr(0, plain);
    json.remove_prefix(plain);
    if (json.empty()) {
      return out;
    }
    const std::size_t size = bytes::utf8_length(json);
    const std::string_view sequence = json.substr(0, size == 0 ? 1 : size);
    json.remove_prefix(sequence.size());
    const char32_t point = size == 0 ? U' ' : bytes::code_point_of(sequence);
    if (point <= 0x7E || !is_hidden(point)) {
      out += sequence;
    } else if (point <= 0xFFFF) {
      append_json_unit(out, point);
    } else {
      append_json_unit(out, 0xD7C0 + (point >> 10U));
      append_json_unit(out, 0xDC00 + (point & 0x3FFU));
    }
  }
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = bytes::utf8_length(text);
    if (size == 0) {
      return false;
    }
    text.remove_prefix(size);
  }
  return true;
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+/,:=@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char letter : word) {
    if (letter == '\'') {
      quoted += "'\"'\"'";  // without a backslash, which a terminal is shown as two
    } else {
      quoted += letter;
    }
  }
  return quoted + "'";
}

std::string shown_shell_word(std::string_view word) {
  std::string shown;
  append_escaped(shown, shell_word(word));
  return shown;
}

}  // namespace stackpack::cli
