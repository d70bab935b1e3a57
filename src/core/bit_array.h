#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace stackpack::core {

/// Bits needed for the values 0 .. max.
constexpr unsigned bit_width_of(std::uint64_t max) {
  return static_cast<unsigned>(std::bit_width(max));
}

/// 64-bit words that hold `bits` bits and can be read to the last of them.
constexpr std::size_t words_for_bits(std::size_t bits) {
  return bits / 64 + 2;
}

/// The `width` (0..64) bits at position `bit`. No branch.
inline std::uint64_t read_bits(std::span<const std::uint64_t> words, std::size_t bit,
                               unsigned width) {
  const std::size_t word = bit / 64;
  const unsigned shift = bit % 64;
  const std::uint64_t value = (words[word] >> shift) | ((words[word + 1] << 1) << (63 - shift));
  return width == 64 ? value : value & ((std::uint64_t{1} << width) - 1);
}

/// Widest field of read_short_bits.
inline constexpr unsigned kShortBits = 57;

/// The same for fields of at most kShortBits: one load. `bytes`: the words' bytes.
inline std::uint64_t read_short_bits(std::span<const std::byte> bytes, std::size_t bit,
                                     std::uint64_t mask) {
  std::uint64_t value = 0;
  std::memcpy(&value, &bytes[bit / 8], sizeof value);
  return (value >> (bit % 8)) & mask;
}

constexpr std::uint64_t low_bits(unsigned width) {
  return width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

/// Fields of one width, at most kShortBits, one after the other. Not bounds-checked, not even by a
/// hardened standard library: for the innermost loops, over indices that were checked before.
class FieldArray {
 public:
  FieldArray() = default;
  /// `words` outlive this; they have words_for_bits() of the fields, or more.
  FieldArray(std::span<const std::uint64_t> words, unsigned width)
      : bytes_(std::as_bytes(words).data()), width_(width), mask_(low_bits(width)) {}

  std::uint64_t operator[](std::size_t index) const {
    const std::size_t bit = index * width_;
    std::uint64_t value = 0;
    std::memcpy(&value, bytes_ + bit / 8, sizeof value);
    return (value >> (bit % 8)) & mask_;
  }

 private:
  const std::byte* bytes_ = nullptr;
  std::size_t width_ = 0;
  std::uint64_t mask_ = 0;
};

/// Sets bits of zeroed words.
inline void write_bits(std::span<std::uint64_t> words, std::size_t bit, unsigned width,
                       std::uint64_t value) {
  const std::size_t word = bit / 64;
  const unsigned shift = bit % 64;
  words[word] |= value << shift;
  if (shift + width > 64) {
    words[word + 1] |= value >> (64 - shift);
  }
}

/// Appends fields to zeroed words, one after the other.
class BitAppender {
 public:
  explicit BitAppender(std::span<std::uint64_t> words) : words_(words) {}

  /// `width` <= 63, `value` has no more bits.
  void append(std::uint64_t value, unsigned width) {
    open_ |= value << used_;
    used_ += width;
    if (used_ >= 64) {
      words_[at_++] = open_;
      used_ -= 64;
      open_ = used_ == 0 ? 0 : value >> (width - used_);
    }
  }
  void finish() {
    if (used_ > 0) {
      words_[at_] = open_;
    }
  }

 private:
  std::span<std::uint64_t> words_;
  std::size_t at_ = 0;
  std::uint64_t open_ = 0;
  unsigned used_ = 0;
};

/// Bits set. Not std::popcount: without a compiler flag that ties the program to newer processors
/// that is a call with a table in it.
constexpr unsigned count_bits(std::uint64_t word) {
  constexpr std::uint64_t kPairs = 0x5555555555555555;
  constexpr std::uint64_t kNibbles = 0x3333333333333333;
  constexpr std::uint64_t kBytes = 0x0F0F0F0F0F0F0F0F;
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  word -= (word >> 1) & kPairs;
  word = (word & kNibbles) + ((word >> 2) & kNibbles);
  word = (word + (word >> 4)) & kBytes;
  return static_cast<unsigned>((word * kOnes) >> 56);
}

/// Position of the set bit number `rank` (0 = lowest) of `word`, which has more than `rank`.
inline unsigned select_bit(std::uint64_t word, unsigned rank) {
  unsigned base = 0;
  for (const unsigned half : {32U, 16U}) {
    const unsigned low = count_bits(word & ((std::uint64_t{1} << half) - 1));
    const bool upper = rank >= low;
    rank -= upper ? low : 0;
    base += upper ? half : 0;
    word >>= upper ? half : 0;
  }
  for (; rank > 0; --rank) {
    word &= word - 1;
  }
  return base + static_cast<unsigned>(std::countr_zero(word));
}

}  // namespace stackpack::core
