#include "formats/etl/file/buffer_decoder.h"

#include <algorithm>
#include <array>

#include "formats/etl/codec/decompress.h"
#include "formats/etl/codec/lznt1.h"
#include "formats/etl/codec/xpress_huffman.h"
#include "formats/etl/codec/xpress_plain.h"
#include "formats/etl/etl_losses.h"
#include "formats/etl/event/event_header.h"

namespace stackpack::etl {

namespace {

// A few bytes can claim to be megabytes. No event stream shrinks further than this: every event
// has a clock of its own.
constexpr std::uint64_t kMostRatio = 4096;
constexpr std::uint64_t kAlwaysAllowed = std::uint64_t{64} << 10;
// What a compressor may write after the last byte it compressed: flags for more, a sign of the end.
constexpr std::size_t kMostInputLeft = 8;

DecodeOutcome decode_as(CompressionFormat format, std::span<const std::byte> in,
                        std::span<std::byte> out, std::size_t wanted) {
  switch (format) {
    case CompressionFormat::kLznt1:
      return decode_lznt1(in, out, wanted);
    case CompressionFormat::kXpressHuffman:
      return decode_xpress_huffman(in, out, wanted);
    default:
      return decode_xpress_plain(in, out, wanted);
  }
}

// Whether these are events to the last byte.
bool is_event_stream(std::span<const std::byte> bytes) {
  EventWalker walker(bytes);
  EventView event;
  std::uint64_t events = 0;
  while (walker.next(event)) {
    ++events;
  }
  return events != 0 && walker.end() == WalkEnd::kClean;
}

void make_room(std::vector<std::byte>& memory, std::size_t size) {
  if (memory.size() < size) {
    memory.resize(size);
  }
}

}  // namespace

std::string_view name_of(CompressionFormat format) {
  switch (format) {
    case CompressionFormat::kNone:
      return "none";
    case CompressionFormat::kLznt1:
      return "lznt1";
    case CompressionFormat::kXpress:
      return "xpress";
    case CompressionFormat::kXpressHuffman:
      return "xpress-huffman";
  }
  return "unknown";
}

BufferDecoder::BufferDecoder(io::ByteSource& input, CompressionFormat format,
                             std::uint64_t max_buffer_bytes)
    : input_(input),
      format_(format),
      max_buffer_bytes_(max_buffer_bytes),
      file_size_(input.size().value_or(0)) {}

Status BufferDecoder::read_body(const IndexedBuffer& buffer, std::vector<std::byte>& body,
                                std::size_t body_bytes) const {
  make_room(body, body_bytes + kDecodeSlack);
  return io::read_exactly_at(input_, buffer.offset + kBufferHeaderBytes,
                             std::span(body).first(body_bytes), "etl: buffer");
}

Status BufferDecoder::decode(const IndexedBuffer& buffer, DecodedBuffer& out) const {
  if (const Status read = decode_events(buffer, out); !read) {
    return read;
  }
  if (!out.header.holds_events()) {
    const bool decoded =
        out.damage == BufferDamage::kNone || out.damage == BufferDamage::kUnusedPartCut;
    if (decoded && out.header.type != kBufferDebugInfo && is_event_stream(out.events())) {
      out.damage = BufferDamage::kWrongType;
    } else {
      out.damage = BufferDamage::kNotEvents;
      out.event_bytes = 0;
    }
  } else if (out.damage == BufferDamage::kNone && out.header.sizes_disagree()) {
    out.damage = BufferDamage::kSizesDisagree;
  }
  return {};
}

Status BufferDecoder::decode_events(const IndexedBuffer& buffer, DecodedBuffer& out) const {
  out.where = buffer;
  out.damage = BufferDamage::kNone;
  out.event_bytes = 0;
  std::array<std::byte, kBufferHeaderBytes> head{};
  if (const Status read = io::read_exactly_at(input_, buffer.offset, head, "etl: buffer header");
      !read) {
    return read;
  }
  out.header = parse_buffer_header(head);
  out.disk_bytes = std::min<std::uint64_t>(buffer.size, file_size_ - buffer.offset);
  const auto body_bytes = static_cast<std::size_t>(out.disk_bytes - kBufferHeaderBytes);
  if (out.header.event_bytes() == 0) {
    out.damage = BufferDamage::kNoSize;
    return {};
  }
  return out.header.compressed() ? unpack_events(buffer, body_bytes, out)
                                 : read_events(buffer, body_bytes, out);
}

// Events that are stored as they are.
Status BufferDecoder::read_events(const IndexedBuffer& buffer, std::size_t body_bytes,
                                  DecodedBuffer& out) const {
  const std::size_t wanted = out.header.event_bytes();
  const bool cut = out.disk_bytes < buffer.size;
  out.event_bytes = std::min(wanted, body_bytes);
  if (out.event_bytes < wanted) {
    out.damage = cut ? BufferDamage::kCutByFileEnd : BufferDamage::kSizeExceedsDisk;
  } else if (cut) {
    out.damage = BufferDamage::kUnusedPartCut;
  }
  return read_body(buffer, out.memory, out.event_bytes);
}

Status BufferDecoder::unpack_events(const IndexedBuffer& buffer, std::size_t body_bytes,
                                    DecodedBuffer& out) const {
  const std::size_t wanted = out.header.event_bytes();
  if (wanted > max_buffer_bytes_ ||
      wanted > kAlwaysAllowed + kMostRatio * std::uint64_t{body_bytes}) {
    out.damage = BufferDamage::kTooLarge;
    return {};
  }
  if (const Status read = read_body(buffer, out.packed, body_bytes); !read) {
    return read;
  }
  make_room(out.memory, wanted + kDecodeSlack);
  const DecodeOutcome outcome =
      decode_as(format_, std::span(out.packed).first(body_bytes), out.memory, wanted);
  if (outcome.end == DecodeEnd::kComplete) {
    out.event_bytes = wanted;
    if (outcome.left > kMostInputLeft) {
      out.damage = BufferDamage::kInputLeft;
    }
  } else if (out.disk_bytes < buffer.size && outcome.end == DecodeEnd::kShort) {
    out.damage = BufferDamage::kCutByFileEnd;
    out.event_bytes = outcome.produced;
  } else {
    out.damage = BufferDamage::kBadCompression;
  }
  return {};
}

Status BufferDecoder::detect_format(std::span<const IndexedBuffer> compressed,
                                    capture::LossCounters& losses) {
  constexpr CompressionFormat kFormats[] = {
      CompressionFormat::kXpress, CompressionFormat::kXpressHuffman, CompressionFormat::kLznt1};
  const CompressionFormat named = format_;
  DecodedBuffer decoded;
  for (const IndexedBuffer& buffer : compressed) {
    if (const Status read = decode(buffer, decoded); !read) {
      return read;
    }
    if (decoded.sound()) {
      return {};
    }
    for (const CompressionFormat other : kFormats) {
      format_ = other;
      if (const Status read = decode(buffer, decoded); !read) {
        return read;
      }
      if (decoded.sound()) {
        losses.add(loss::kCompressionFormatCorrected, LossKind::kNotice, 1, buffer.offset);
        return {};
      }
    }
    format_ = named;
  }
  return {};
}

}  // namespace stackpack::etl
