#include "bytes/wide_text.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "bytes/utf8.h"

namespace stackpack::bytes {

namespace {

// Characters that are certainly ASCII and no NUL, from the front on.
std::size_t ascii_length(std::span<const std::byte> wide) {
  constexpr std::size_t kStep = 4;  // characters in a word
  constexpr unsigned kUnitBits = 16;
  constexpr std::uint64_t kOnes = 0x0001'0001'0001'0001;
  constexpr std::uint64_t kNotAscii = 0xFF80'FF80'FF80'FF80;
  std::size_t length = 0;
  for (; wide.size() / 2 - length >= kStep; length += kStep) {
    std::uint64_t units = 0;
    std::memcpy(&units, wide.data() + 2 * length, sizeof units);
    // A NUL borrows; what is not ASCII shows by itself, and nothing before it does.
    const std::uint64_t others = (units | (units - kOnes)) & kNotAscii;
    if (others != 0) {
      return length + static_cast<std::size_t>(std::countr_zero(others)) / kUnitBits;
    }
  }
  return length;
}

// Appends the ASCII characters at the front of little-endian UTF-16, up to the first NUL or other
// character; up to three may be left before that, or before the end.
// Result: bytes of `wide` that were taken.
// Cost: few instructions a character; the compiler makes vectors.
std::size_t append_wide_ascii(std::span<const std::byte> wide, std::string& text) {
  const std::size_t length = ascii_length(wide);
  const std::size_t old_size = text.size();
  text.resize(old_size + length);
  char* const narrow = text.data() + old_size;
  for (std::size_t i = 0; i < length; ++i) {
    std::uint16_t unit = 0;
    std::memcpy(&unit, wide.data() + 2 * i, sizeof unit);
    narrow[i] = static_cast<char>(unit);
  }
  return 2 * length;
}

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
