#include "bytes/wide_ascii.h"

#include <bit>
#include <cstdint>
#include <cstring>

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

}  // namespace

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

}  // namespace stackpack::bytes
