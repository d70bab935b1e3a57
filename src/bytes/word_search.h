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

/// How many of the bytes from `from` on, a multiple of kVectorBytes, certainly have no word with
/// `value` in the bits of `mask`, both of which are in a word's low half. `from` is at most
/// bytes.size(). Cost: a handful of instructions for four words.
inline constexpr std::size_t kVectorBytes = 32;
inline std::size_t bytes_without_word(std::span<const std::byte> bytes, std::size_t from,
                                      std::uint32_t mask, std::uint32_t value) {
  using Lanes [[gnu::vector_size(kVectorBytes / 2)]] = std::uint32_t;
  const Lanes masks = {mask, mask, mask, mask};
  const Lanes values = {value, value, value, value};
  std::size_t at = from;
  for (; bytes.size() - at >= kVectorBytes; at += kVectorBytes) {
    Lanes first;
    Lanes second;
    std::memcpy(&first, bytes.data() + at, sizeof first);
    std::memcpy(&second, bytes.data() + at + sizeof first, sizeof second);
    // High halves are compared, too, which is faster than to leave them out.
    const auto found = ((first & masks) == values) | ((second & masks) == values);
    std::uint64_t halves[2];
    static_assert(sizeof halves == sizeof found);
    std::memcpy(halves, &found, sizeof halves);
    if ((halves[0] | halves[1]) != 0) {
      break;
    }
  }
  return at - from;
}

/// Whether there certainly is no such word from `from` on, in steps of eight bytes. `mask` and
/// `value` are as above. Says no of bytes that are shorter than a vector, or no whole halves.
inline bool has_no_word(std::span<const std::byte> bytes, std::size_t from, std::uint32_t mask,
                        std::uint32_t value) {
  const std::size_t size = bytes.size() - from;
  if (size < kVectorBytes || size % sizeof value != 0) {
    return false;
  }
  const std::size_t clean = bytes_without_word(bytes, from, mask, value);
  // What is shorter than a vector is looked at with some of the bytes before it.
  return clean == size ||
         (size - clean < kVectorBytes &&
          bytes_without_word(bytes, bytes.size() - kVectorBytes, mask, value) == kVectorBytes);
}

}  // namespace stackpack::bytes
