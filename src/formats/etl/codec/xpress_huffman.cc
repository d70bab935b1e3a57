// Xpress Huffman: each block of 64 KiB of output has its own code.
//
// A block begins with 512 code lengths of four bits. Symbols below 256 are literals; above, the low
// four bits are the length and the next four how many bits of distance follow. The codes are
// canonical: by length, then by symbol. The bit stream is a sequence of u16, most significant bit
// first, and it has a peculiarity that the decoder must keep to the letter: long lengths are whole
// bytes taken from the byte position of the moment, that is, after the words which the bit
// register has already swallowed. So the register must be refilled exactly when the format says:
// it holds 32 bits at first, and one more u16 as soon as fewer than 16 are left.
//
// Decoding a symbol is one lookup in a table of 2^11 entries; the rare codes longer than that are
// found by comparing with the first code of each length.
#include "formats/etl/codec/xpress_huffman.h"

#include <algorithm>
#include <cstdint>

#include "formats/etl/codec/lz_copy.h"

namespace stackpack::etl {

namespace {

constexpr std::size_t kSymbols = 512;
constexpr std::size_t kTableBytes = kSymbols / 2;
constexpr std::size_t kBlockBytes = 65536;
constexpr unsigned kLongest = 15;
constexpr unsigned kTableBits = 11;
constexpr std::uint32_t kWholeSpace = 1U << kLongest;

// Number of codes of each length, and the sum of their shares of the code space.
struct LengthCounts {
  std::uint16_t of[kLongest + 1] = {};
  std::uint32_t space = 0;
};

LengthCounts count_lengths(const std::byte* table) {
  LengthCounts counts;
  for (std::size_t i = 0; i < kTableBytes; ++i) {
    const auto pair = static_cast<unsigned>(table[i]);
    ++counts.of[pair & 15];
    ++counts.of[pair >> 4];
  }
  for (unsigned length = 1; length <= kLongest; ++length) {
    counts.space += std::uint32_t{counts.of[length]} << (kLongest - length);
  }
  return counts;
}

class HuffmanCode {
 public:
  /// False when the lengths do not make a complete code.
  bool build(const std::byte* lengths) {
    const LengthCounts counts = count_lengths(lengths);
    if (counts.space != kWholeSpace) {
      return false;
    }
    std::uint16_t next[kLongest + 2] = {};  // where the symbols of a length begin in symbols_
    std::uint32_t code = 0;
    for (unsigned length = 1; length <= kLongest; ++length) {
      first_symbol_[length] = next[length];
      first_code_[length] = code;
      code += std::uint32_t{counts.of[length]} << (kLongest - length);
      end_code_[length] = code;
      next[length + 1] = static_cast<std::uint16_t>(next[length] + counts.of[length]);
    }
    for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
      const auto pair = static_cast<unsigned>(lengths[symbol / 2]);
      const unsigned length = symbol % 2 == 0 ? pair & 15 : pair >> 4;
      if (length != 0) {
        symbols_[next[length]++] = static_cast<std::uint16_t>(symbol);
      }
    }
    fill_table();
    return true;
  }

  /// The symbol at the front of the 15 bits `window`, and the length of its code.
  [[nodiscard]] std::uint16_t find(std::uint32_t window, unsigned& length) const {
    const std::uint16_t entry = table_[window >> (kLongest - kTableBits)];
    if (entry != 0) {
      length = entry & 15U;
      return static_cast<std::uint16_t>(entry >> 4);
    }
    length = kTableBits + 1;
    while (window >= end_code_[length]) {  // a complete code ends at 15 bits, always
      ++length;
    }
    const std::uint32_t index = (window - first_code_[length]) >> (kLongest - length);
    return symbols_[first_symbol_[length] + index];
  }

 private:
  void fill_table() {
    std::size_t at = 0;
    for (unsigned length = 1; length <= kTableBits; ++length) {
      const std::size_t share = std::size_t{1} << (kTableBits - length);
      const std::uint32_t codes = (end_code_[length] - first_code_[length]) >> (kLongest - length);
      for (std::uint32_t i = 0; i < codes; ++i) {
        const auto entry = static_cast<std::uint16_t>(
            (static_cast<unsigned>(symbols_[first_symbol_[length] + i]) << 4) | length);
        std::fill_n(table_ + at, share, entry);
        at += share;
      }
    }
    std::fill(table_ + at, table_ + (std::size_t{1} << kTableBits), std::uint16_t{0});
  }

  std::uint16_t table_[std::size_t{1} << kTableBits];  // symbol << 4 | length; 0: a longer code
  std::uint16_t symbols_[kSymbols];
  std::uint16_t first_symbol_[kLongest + 1] = {};
  std::uint32_t first_code_[kLongest + 1] = {};  // left-aligned in 15 bits
  std::uint32_t end_code_[kLongest + 1] = {};
};

// The bit register and the byte position after it.
class BitInput {
 public:
  BitInput(const std::byte* at, const std::byte* end) : at_(at), end_(end) {}

  /// Loads the first 32 bits of a block; false when they are not there.
  bool start() {
    if (left() < 4) {
      return false;
    }
    const std::uint32_t both = load<std::uint32_t>(at_);
    register_ = (both << 16) | (both >> 16);
    at_ += 4;
    spare_ = 16;
    return true;
  }

  [[nodiscard]] std::uint32_t window() const { return register_ >> (32 - kLongest); }

  /// The next `count` bits (0..15), not consumed.
  [[nodiscard]] std::uint32_t peek(unsigned count) const {
    return static_cast<std::uint32_t>((std::uint64_t{register_} << count) >> 32);
  }

  void consume(unsigned count) {
    register_ <<= count;
    spare_ -= static_cast<int>(count);
    if (spare_ < 0) {
      refill();
    }
  }

  /// The next byte from the byte position; false when there is none.
  bool byte(std::uint32_t& value) {
    if (left() < 1) {
      return false;
    }
    value = load<std::uint8_t>(at_++);
    return true;
  }

  template <typename T>
  bool word(std::uint32_t& value) {
    if (left() < sizeof(T)) {
      return false;
    }
    value = load<T>(at_);
    at_ += sizeof(T);
    return true;
  }

  /// Whether bits were consumed which the input does not have. One missing word is no harm: the
  /// register holds at least 16 bits in advance.
  [[nodiscard]] bool exhausted() const { return missing_ >= 2; }
  [[nodiscard]] const std::byte* position() const { return at_; }

 private:
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  void refill() {
    if (left() >= 2) {
      register_ |= std::uint32_t{load<std::uint16_t>(at_)} << -spare_;
      at_ += 2;
    } else {
      at_ = end_;
      ++missing_;
    }
    spare_ += 16;
  }

  const std::byte* at_;
  const std::byte* end_;
  std::uint32_t register_ = 0;
  int spare_ = 0;  // bits in the register beyond 16
  unsigned missing_ = 0;
};

// Everything of a length beyond its four bits. kComplete: go on.
DecodeEnd read_long_length(BitInput& in, std::size_t& length) {
  std::uint32_t value = 0;
  if (!in.byte(value)) {
    return DecodeEnd::kShort;
  }
  if (value == 255) {
    if (!in.word<std::uint16_t>(value)) {
      return DecodeEnd::kShort;
    }
    if (value == 0 && !in.word<std::uint32_t>(value)) {
      return DecodeEnd::kShort;
    }
    if (value < 15) {
      return DecodeEnd::kCorrupt;
    }
    value -= 15;
  }
  length = std::size_t{value} + 15;
  return DecodeEnd::kComplete;
}

struct Target {
  std::byte* start;
  std::byte* at;
  std::byte* end;
};

// Decodes until `block_end`, which the last match may pass.
DecodeEnd decode_block(const HuffmanCode& code, BitInput& in, Target& out,
                       const std::byte* block_end) {
  while (out.at < block_end) {
    unsigned bits = 0;
    const std::uint32_t symbol = code.find(in.window(), bits);
    in.consume(bits);
    if (symbol < 256) {
      if (in.exhausted()) {
        return DecodeEnd::kShort;
      }
      *out.at++ = static_cast<std::byte>(symbol);
      continue;
    }
    std::size_t length = symbol & 15;
    if (length == 15) {
      const DecodeEnd end = read_long_length(in, length);
      if (end != DecodeEnd::kComplete) {
        return end;
      }
    }
    length += 3;
    const unsigned distance_bits = (symbol >> 4) & 15;
    const std::size_t distance = (std::size_t{1} << distance_bits) | in.peek(distance_bits);
    in.consume(distance_bits);
    if (in.exhausted()) {
      return DecodeEnd::kShort;
    }
    if (distance > static_cast<std::size_t>(out.at - out.start) ||
        length > static_cast<std::size_t>(out.end - out.at)) {
      return DecodeEnd::kCorrupt;
    }
    copy_match(out.at, distance, length);
    out.at += length;
  }
  return DecodeEnd::kComplete;
}

}  // namespace

bool starts_like_xpress_huffman(std::span<const std::byte> in) {
  return in.size() >= kTableBytes && count_lengths(in.data()).space == kWholeSpace;
}

DecodeOutcome decode_xpress_huffman(std::span<const std::byte> in, std::span<std::byte> out,
                                    std::size_t wanted) {
  if (out.size() < kDecodeSlack || wanted > out.size() - kDecodeSlack) {
    return {0, DecodeEnd::kCorrupt};
  }
  Target target{out.data(), out.data(), out.data() + wanted};
  const auto outcome = [&target](DecodeEnd end) {
    return DecodeOutcome{static_cast<std::size_t>(target.at - target.start), end};
  };
  HuffmanCode code;
  const std::byte* position = in.data();
  const std::byte* const in_end = in.data() + in.size();
  while (target.at < target.end) {
    if (static_cast<std::size_t>(in_end - position) < kTableBytes) {
      return outcome(DecodeEnd::kShort);
    }
    if (!code.build(position)) {
      return outcome(DecodeEnd::kCorrupt);
    }
    BitInput bits(position + kTableBytes, in_end);
    if (!bits.start()) {
      return outcome(DecodeEnd::kShort);
    }
    const std::size_t left = static_cast<std::size_t>(target.end - target.at);
    const DecodeEnd end = decode_block(code, bits, target, target.at + std::min(left, kBlockBytes));
    if (end != DecodeEnd::kComplete) {
      return outcome(end);
    }
    position = bits.position();
  }
  DecodeOutcome complete = outcome(DecodeEnd::kComplete);
  complete.left = static_cast<std::size_t>(in_end - position);
  return complete;
}

}  // namespace stackpack::etl
