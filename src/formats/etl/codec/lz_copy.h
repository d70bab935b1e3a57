#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace stackpack::etl {

/// A little-endian number at any address; the caller knows that its bytes are there.
template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Copies `length` bytes from `distance` before `to` to `to`, byte by byte in effect: a distance
/// shorter than the length repeats the pattern. distance >= 1.
///
/// Room:   writes up to 31 bytes past the length; the caller owns them (kDecodeSlack).
inline void copy_match(std::byte* to, std::size_t distance, std::size_t length) {
  const std::byte* from = to - distance;
  std::byte* const end = to + length;
  if (distance >= 16) {
    do {
      std::memcpy(to, from, 16);
      to += 16;
      from += 16;
    } while (to < end);
    return;
  }
  if (distance == 1) {
    std::memset(to, static_cast<int>(*from), length);
    return;
  }
  // Doubling the pattern until it is at least eight bytes long makes wide copies possible.
  std::size_t step = distance;
  while (step < 8 && to < end) {
    for (std::size_t i = 0; i < step; ++i) {
      to[i] = from[i];
    }
    to += step;
    step *= 2;
  }
  while (to < end) {
    std::memcpy(to, from, 8);
    to += 8;
    from += 8;
  }
}

}  // namespace stackpack::etl
