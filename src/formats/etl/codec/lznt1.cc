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

struct Chunk {
  std::span<const std::byte> body;  // cut where the input ends
  bool compressed = false;
  bool whole = false;
};

// The end of the chunks: two zeros, or nothing more.
bool is_end(std::span<const std::byte> rest) {
  return rest.size() < 2 || (rest[0] == std::byte{0} && rest[1] == std::byte{0});
}

// Takes a chunk off the front of `in`. kComplete: there is one.
DecodeEnd take_chunk(std::span<const std::byte>& in, Chunk& chunk) {
  std::uint16_t header = 0;
  if (is_end(in)) {
    return DecodeEnd::kShort;
  }
  std::memcpy(&header, in.data(), sizeof header);
  in = in.subspan(sizeof header);
  if ((header & 0x7000) != 0x3000) {
    return DecodeEnd::kCorrupt;
  }
  const std::size_t size = (header & 0xFFFU) + 1;
  chunk.compressed = (header & 0x8000) != 0;
  chunk.whole = size <= in.size();
  chunk.body = in.first(std::min(size, in.size()));
  in = in.subspan(chunk.body.size());
  return DecodeEnd::kComplete;
}

// `rest`: of the input, after the chunk.
DecodeEnd take_content(const Chunk& chunk, std::span<const std::byte> rest, Output& out) {
  if (!chunk.compressed) {
    const std::size_t copied = std::min(chunk.body.size(), out.left());
    std::copy_n(chunk.body.begin(), copied, out.at);
    out.at += copied;
    return DecodeEnd::kComplete;
  }
  const std::byte* const start = out.at;
  const DecodeEnd end = decode_chunk(chunk.body, out);
  if (end != DecodeEnd::kComplete) {
    // A chunk cut by the end of the input may break off inside a match.
    return chunk.whole ? end : DecodeEnd::kShort;
  }
  const auto made = static_cast<std::size_t>(out.at - start);
  if (made < kChunkBytes && out.at < out.end && chunk.whole) {
    // Only the last chunk may be short: nothing but the end of the stream can follow.
    return is_end(rest) ? DecodeEnd::kShort : DecodeEnd::kCorrupt;
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
  DecodeEnd end = DecodeEnd::kComplete;
  while (target.at < target.end && end == DecodeEnd::kComplete) {
    Chunk chunk;
    end = take_chunk(in, chunk);
    end = end == DecodeEnd::kComplete ? take_content(chunk, in, target) : end;
  }
  DecodeOutcome outcome{static_cast<std::size_t>(target.at - out.data()), end};
  if (end == DecodeEnd::kComplete) {
    // The end of the chunks, and padding.
    const auto rest =
        std::find_if(in.begin(), in.end(), [](std::byte b) { return b != std::byte{0}; });
    outcome.left = static_cast<std::size_t>(in.end() - rest);
  }
  return outcome;
}

}  // namespace stackpack::etl
