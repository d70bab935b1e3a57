// Plain Xpress: flags, literals and matches, all in whole bytes.
//
// The stream is a u32 of 32 flags, most significant first, then what the flags announce: 0 a
// literal byte, 1 a match; then the next u32, and so on. A match is a u16: 13 bits of distance - 1
// and 3 bits of length. Length 7 goes on in a nibble (two matches share one byte: the first takes
// the low half and remembers the place), nibble 15 in a byte, byte 255 in a u16, u16 0 in a u32.
//
// Speed comes from two things. The flags stand left-aligned in a u64 with a sentinel after them,
// so that counting leading zeros gives a whole run of literals, copied at once. And while at least
// kFastInput bytes of input and kFastOutput bytes of output are left, no single step needs a check:
// a flag word, a run of 32 literals and a match with its longest tail fit into them. The careful
// loop with all its checks ends the stream and gives the verdict on a damaged one.
#include "formats/etl/codec/xpress_plain.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "formats/etl/codec/lz_copy.h"

namespace stackpack::etl {

namespace {

constexpr std::uint64_t kSentinel = std::uint64_t{1} << 31;
constexpr std::uint64_t kNoFlags = std::uint64_t{1} << 63;
constexpr std::size_t kFastInput = 64;
constexpr std::size_t kFastOutput = 64;

class PlainDecoder {
 public:
  PlainDecoder(std::span<const std::byte> in, std::span<std::byte> out, std::size_t wanted)
      : in_(in.data()),
        in_end_(in.data() + in.size()),
        out_start_(out.data()),
        out_(out.data()),
        out_end_(out.data() + wanted) {}

  DecodeOutcome run() {
    DecodeEnd end = DecodeEnd::kComplete;
    while (out_ < out_end_) {
      if (in_left() >= kFastInput && out_left() >= kFastOutput) {
        if (!fast_steps()) {
          end = DecodeEnd::kCorrupt;
          break;
        }
      } else if (!careful_step(end)) {
        break;
      }
    }
    return {static_cast<std::size_t>(out_ - out_start_), end, in_left()};
  }

 private:
  [[nodiscard]] std::size_t in_left() const { return static_cast<std::size_t>(in_end_ - in_); }
  [[nodiscard]] std::size_t out_left() const { return static_cast<std::size_t>(out_end_ - out_); }

  // Runs without checks while there is room on both sides; false: corrupt.
  bool fast_steps() {
    const std::byte* const in_stop = in_end_ - kFastInput;
    const std::byte* const out_stop = out_end_ - kFastOutput;
    while (in_ <= in_stop && out_ <= out_stop) {
      if (flags_ == kNoFlags) {
        flags_ = (std::uint64_t{load<std::uint32_t>(in_)} << 32) | kSentinel;
        in_ += 4;
      }
      const int literals = std::countl_zero(flags_);
      if (literals != 0) {  // at most 32: the sentinel ends the run
        std::memcpy(out_, in_, 16);
        if (literals > 16) {
          std::memcpy(out_ + 16, in_ + 16, 16);
        }
        in_ += literals;
        out_ += literals;
        flags_ <<= literals;
        if (flags_ == kNoFlags) {
          continue;
        }
      }
      flags_ <<= 1;
      const std::uint32_t word = load<std::uint16_t>(in_);
      in_ += 2;
      std::size_t length = word & 7;
      if (length == 7 && !read_long_length(length)) {
        return false;
      }
      length += 3;
      const std::size_t distance = (word >> 3) + 1;
      if (distance > static_cast<std::size_t>(out_ - out_start_) || length > out_left()) {
        return false;
      }
      copy_match(out_, distance, length);
      out_ += length;
    }
    return true;
  }

  // The tail of a length; at least eight bytes of input are left. False: corrupt.
  bool read_long_length(std::size_t& length) {
    if (nibble_ == nullptr) {
      nibble_ = in_;
      length = load<std::uint8_t>(in_++) & 15;
    } else {
      length = load<std::uint8_t>(nibble_) >> 4;
      nibble_ = nullptr;
    }
    if (length == 15) {
      length = load<std::uint8_t>(in_++);
      if (length == 255) {
        length = load<std::uint16_t>(in_);
        in_ += 2;
        if (length == 0) {
          length = load<std::uint32_t>(in_);
          in_ += 4;
        }
        if (length < 22) {
          return false;
        }
        length -= 22;
      }
      length += 15;
    }
    length += 7;
    return true;
  }

  // The same with a check before each read; `end` is set when it returns false.
  bool careful_long_length(std::size_t& length, DecodeEnd& end) {
    // Eight bytes are the longest tail: with fewer left, they are read from a padded copy and the
    // position shows afterwards whether that many were there.
    std::byte copy[8] = {};
    const std::size_t left = in_left();
    if (left >= sizeof copy) {
      end = DecodeEnd::kCorrupt;
      return read_long_length(length);
    }
    std::copy_n(in_, left, copy);
    const std::byte* const before = in_;
    const bool takes_nibble = nibble_ == nullptr;
    in_ = copy;
    const bool good = read_long_length(length);
    const auto used = static_cast<std::size_t>(in_ - copy);
    in_ = before + std::min(used, left);
    if (takes_nibble) {
      nibble_ = before;
    }
    end = used > left ? DecodeEnd::kShort : DecodeEnd::kCorrupt;
    return good && used <= left;
  }

  // One flag. False: the end, for the reason left in `end`.
  bool careful_step(DecodeEnd& end) {
    if (flags_ == kNoFlags) {
      if (in_left() < 4) {
        end = DecodeEnd::kShort;
        return false;
      }
      flags_ = (std::uint64_t{load<std::uint32_t>(in_)} << 32) | kSentinel;
      in_ += 4;
    }
    const bool match = (flags_ >> 63) != 0;
    flags_ <<= 1;
    if (!match) {
      if (in_left() < 1) {
        end = DecodeEnd::kShort;
        return false;
      }
      *out_++ = *in_++;
      return true;
    }
    if (in_left() < 2) {  // the ones which fill the last flag word announce nothing
      end = DecodeEnd::kShort;
      return false;
    }
    const std::uint32_t word = load<std::uint16_t>(in_);
    in_ += 2;
    std::size_t length = word & 7;
    if (length == 7 && !careful_long_length(length, end)) {
      return false;
    }
    length += 3;
    const std::size_t distance = (word >> 3) + 1;
    if (distance > static_cast<std::size_t>(out_ - out_start_) || length > out_left()) {
      end = DecodeEnd::kCorrupt;
      return false;
    }
    end = DecodeEnd::kComplete;
    copy_match(out_, distance, length);
    out_ += length;
    return true;
  }

  const std::byte* in_;
  const std::byte* const in_end_;
  std::byte* const out_start_;
  std::byte* out_;
  std::byte* const out_end_;
  std::uint64_t flags_ = kNoFlags;
  const std::byte* nibble_ = nullptr;  // the byte whose high half the next long match takes
};

}  // namespace

DecodeOutcome decode_xpress_plain(std::span<const std::byte> in, std::span<std::byte> out,
                                  std::size_t wanted) {
  if (out.size() < kDecodeSlack || wanted > out.size() - kDecodeSlack) {
    return {0, DecodeEnd::kCorrupt};
  }
  return PlainDecoder(in, out, wanted).run();
}

}  // namespace stackpack::etl
