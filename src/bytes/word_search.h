#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace stackpack::bytes {

/// The first position from `from` on, in steps of eight bytes, where the little-endian u64 has
/// `value` in the bits of `mask`; bytes.size() where none has. Words that are not whole do not
/// count. `from` may lie past the end.
/// Cost: four words a step, so that a payload without such a word takes next to nothing.
inline std::size_t find_word(std::span<const std::byte> bytes, std::size_t from, std::uint64_t mask,
                             std::uint64_t value) {
  const auto matches = [&](std::size_t at) -> unsigned {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    return (word & mask) == value ? 1U : 0U;
  };
  std::size_t at = from;
  while (at < bytes.size() && bytes.size() - at >= 32) {
    if ((matches(at) | matches(at + 8) | matches(at + 16) | matches(at + 24)) != 0) {
      break;
    }
    at += 32;
  }
  for (; at < bytes.size() && bytes.size() - at >= 8; at += 8) {
    if (matches(at) != 0) {
      return at;
    }
  }
  return bytes.size();
}

/// How many of the bytes from `from` on, a multiple of kVectorBytes, certainly have no such word.
/// For long payloads: the compiler makes vectors of the loop. The highest bit is not in `mask`.
inline constexpr std::size_t kVectorBytes = 256;
std::size_t bytes_without_word(std::span<const std::byte> bytes, std::size_t from,
                               std::uint64_t mask, std::uint64_t value);

}  // namespace stackpack::bytes
