// LZNT1: the compression of NTFS, older and simpler than Xpress.
//
// A chunk is a u16 header and its body: bit 15 says that the body is compressed, bits 14..12 are
// always 3, bits 11..0 are the size of the body minus one. A compressed body is groups of one byte
// of flags, least significant first, and eight tokens: 0 a literal byte, 1 a match. A match is a
// u16 whose split between distance and length moves with the position in the chunk: the distance
// takes as many bits as the position needs (at least four), the length has the rest.
#include "formats/etl/codec/lznt1.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "formats/etl/codec/lz_copy.h"

namespace stackpack::etl {

namespace {

constexpr std::size_t kChunkBytes = 4096;

// Bits of a match which belong to the length when `position` bytes of the chunk are there.
unsigned length_bits(std::size_t position) {
  const auto width = static_cast<unsigned>(std::bit_width(position - 1));
  return 16 - std::max(width, 4U);
}

struct Output {
  std::byte* at;
  std::byte* end;

  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end - at); }
};

// Decodes one compressed body. Stops without complaint when the output is complete.
DecodeEnd decode_chunk(std::span<const std::byte> body, Output& out) {
  std::byte* const start = out.at;
  std::byte* const chunk_end = start + std::min(out.left(), kChunkBytes);
  std::size_t i = 0;
  while (i < body.size() && out.at < out.end) {
    auto flags = static_cast<unsigned>(body[i++]);
    for (unsigned token = 0; token < 8 && i < body.size(); ++token, flags >>= 1) {
      if (out.at == chunk_end) {
        return out.at == out.end ? DecodeEnd::kComplete : DecodeEnd::kCorrupt;
      }
      if ((flags & 1) == 0) {
        *out.at++ = body[i++];
        continue;
      }
      if (body.size() - i < 2 || out.at == start) {
        return DecodeEnd::kCorrupt;
      }
      std::uint16_t word = 0;
      std::memcpy(&word, body.data() + i, sizeof word);
      i += 2;
      const auto position = static_cast<std::size_t>(out.at - start);
      const unsigned bits = length_bits(position);
      const std::size_t distance = std::size_t{static_cast<unsigned>(word) >> bits} + 1;
      const std::size_t length = (word & ((std::size_t{1} << bits) - 1)) + 3;
      if (distance > position || length > static_cast<std::size_t>(chunk_end - out.at)) {
        return DecodeEnd::kCorrupt;
      }
      copy_match(out.at, distance, length);
      out.at += length;
    }
  }
  return DecodeEnd::kComplete;
}

}  // namespace

DecodeOutcome decode_lznt1(std::span<const std::byte> in, std::span<std::byte> out,
                           std::size_t wanted) {
  if (out.size() < kDecodeSlack || wanted > out.size() - kDecodeSlack) {
    return {0, DecodeEnd::kCorrupt};
  }
  Output target{out.data(), out.data() + wanted};
  const auto outcome = [&](DecodeEnd end) {
    return DecodeOutcome{static_cast<std::size_t>(target.at - out.data()), end};
  };
  std::size_t i = 0;
  while (target.at < target.end) {
    if (in.size() - i < 2) {
      return outcome(DecodeEnd::kShort);
    }
    std::uint16_t header = 0;
    std::memcpy(&header, in.data() + i, sizeof header);
    i += 2;
    if (header == 0) {
      return outcome(DecodeEnd::kShort);
    }
    if ((header & 0x7000) != 0x3000) {
      return outcome(DecodeEnd::kCorrupt);
    }
    const std::size_t named = (header & 0xFFFU) + 1;
    const std::size_t size = std::min(named, in.size() - i);
    const std::span<const std::byte> body = in.subspan(i, size);
    i += size;
    if ((header & 0x8000) == 0) {
      const std::size_t copied = std::min(size, target.left());
      std::copy_n(body.begin(), copied, target.at);
      target.at += copied;
    } else {
      const std::byte* const start = target.at;
      const DecodeEnd end = decode_chunk(body, target);
      if (end != DecodeEnd::kComplete) {
        // A chunk cut by the end of the input may break off inside a match.
        return outcome(size < named ? DecodeEnd::kShort : end);
      }
      const auto made = static_cast<std::size_t>(target.at - start);
      if (made < kChunkBytes && target.at < target.end && size == named) {
        // Only the last chunk may be short: nothing but the end of the stream can follow.
        const bool at_end =
            in.size() - i < 2 || (in[i] == std::byte{0} && in[i + 1] == std::byte{0});
        return outcome(at_end ? DecodeEnd::kShort : DecodeEnd::kCorrupt);
      }
    }
  }
  while (i < in.size() && in[i] == std::byte{0}) {  // the end of the chunks, and padding
    ++i;
  }
  DecodeOutcome complete = outcome(DecodeEnd::kComplete);
  complete.left = in.size() - i;
  return complete;
}

}  // namespace stackpack::etl
