#include "formats/etl/event/windows_text.h"

#include <cstdint>

#include "bytes/utf8.h"
#include "bytes/wide_ascii.h"

namespace stackpack::etl {

namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;

bool is_high(std::uint32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low(std::uint32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

void append_unit(std::uint32_t point, std::string& text) {
  if (point < 0x80) {
    text.push_back(static_cast<char>(point));
  } else {
    bytes::append_utf8(point, text);
  }
}

}  // namespace

std::string read_wide_text(bytes::ByteCursor& in) {
  std::string text;
  append_wide_text(in, text);
  return text;
}

bool append_wide_text(bytes::ByteCursor& in, std::string& text) {
  in.skip(bytes::append_wide_ascii(in.rest(), text));
  bool ended = false;
  std::uint32_t high = 0;  // a high surrogate that waits for its other half
  while (in.remaining() >= 2) {
    const std::uint32_t unit = in.read<std::uint16_t>();
    if (high != 0 && is_low(unit)) {
      bytes::append_utf8(0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00), text);
      high = 0;
      continue;
    }
    if (high != 0) {
      bytes::append_utf8(kReplacement, text);
      high = 0;
    }
    if (unit == 0) {
      ended = true;
      break;
    }
    if (is_high(unit)) {
      high = unit;
    } else {
      append_unit(is_low(unit) ? kReplacement : unit, text);
    }
  }
  if (high != 0) {
    bytes::append_utf8(kReplacement, text);
  }
  return ended;
}

std::string from_ansi(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    append_unit(static_cast<unsigned char>(c), text);
  }
  return text;
}

}  // namespace stackpack::etl
