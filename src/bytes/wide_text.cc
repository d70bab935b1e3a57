#include "bytes/wide_text.h"

#include <cstdint>

#include "bytes/utf8.h"
#include "bytes/wide_ascii.h"

namespace stackpack::bytes {

namespace {

constexpr std::uint32_t kReplacementPoint = 0xFFFD;

bool is_high_surrogate(std::uint32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low_surrogate(std::uint32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

void append_wide_unit(std::uint32_t unit, std::string& text) {
  if (unit < 0x80) {
    text.push_back(static_cast<char>(unit));
  } else {
    append_utf8(is_low_surrogate(unit) ? kReplacementPoint : unit, text);
  }
}

}  // namespace

std::string read_wide_text(ByteCursor& in) {
  std::string text;
  append_wide_text(in, text);
  return text;
}

bool append_wide_text(ByteCursor& in, std::string& text) {
  in.skip(append_wide_ascii(in.rest(), text));
  bool ended = false;
  std::uint32_t high = 0;  // a high surrogate that waits for its other half
  while (in.remaining() >= 2) {
    const std::uint32_t unit = in.read<std::uint16_t>();
    if (high != 0 && is_low_surrogate(unit)) {
      append_utf8(0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00), text);
      high = 0;
      continue;
    }
    if (high != 0) {
      append_utf8(kReplacementPoint, text);
      high = 0;
    }
    if (unit == 0) {
      ended = true;
      break;
    }
    if (is_high_surrogate(unit)) {
      high = unit;
    } else {
      append_wide_unit(unit, text);
    }
  }
  if (high != 0) {
    append_utf8(kReplacementPoint, text);
  }
  return ended;
}

}  // namespace stackpack::bytes
