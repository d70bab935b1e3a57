#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace stackpack::capture {

/// A hash of the 8-byte words in `bytes` (whole words, any alignment) and of `seed`, for caches
/// that compare what they find: fast, and good for no more.
///
/// Every word counts: callstacks of one wait or one fault share all frames near the leaf. Four
/// lanes, since a chain of multiplications would take four times as long.
inline std::uint64_t hash_words(std::span<const std::byte> bytes, std::uint64_t seed) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const std::byte* at = bytes.data();
  const auto take = [&at] {
    std::uint64_t word = 0;
    std::memcpy(&word, at, kWord);
    at += kWord;
    return word;
  };
  std::size_t words = bytes.size() / kWord;
  std::uint64_t a = words;
  std::uint64_t b = seed;
  std::uint64_t c = 2;
  std::uint64_t d = 3;
  for (; words >= 4; words -= 4) {
    a = (a ^ take()) * kMultiplier;
    b = (b ^ take()) * kMultiplier;
    c = (c ^ take()) * kMultiplier;
    d = (d ^ take()) * kMultiplier;
  }
  for (; words > 0; --words) {
    a = (a ^ take()) * kMultiplier;
  }
  const std::uint64_t sum = a ^ (b << 16 | b >> 48) ^ (c << 32 | c >> 32) ^ (d << 48 | d >> 16);
  return (sum ^ (sum >> 32)) * kMultiplier;
}

}  // namespace stackpack::capture
