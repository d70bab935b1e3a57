#include "formats/jfr/recording_chunk.h"

#include <algorithm>
#include <array>

namespace stackpack::jfr {

namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
// Version 1 is that of JDK 9 and 10, with other names of types.
constexpr std::uint16_t kOldestMajor = 1;
constexpr std::uint16_t kMajor = 2;
constexpr std::uint64_t kLongestEventHead = 18;  // two numbers of nine bytes

}  // namespace

std::uint64_t ChunkHeader::length_ns(std::uint64_t ticks) const {
  if (ticks_per_second == kNsPerSecond || ticks_per_second == 0) {
    return ticks;
  }
  // Of whole seconds and the rest, so that nothing overflows that fits.
  const std::uint64_t seconds = ticks / ticks_per_second;
  const std::uint64_t rest = ticks % ticks_per_second;
  constexpr std::uint64_t kMostRest = ~std::uint64_t{0} / kNsPerSecond;
  const std::uint64_t part = rest <= kMostRest ? rest * kNsPerSecond / ticks_per_second
                                               : rest / (ticks_per_second / kNsPerSecond);
  return seconds * kNsPerSecond + part;
}

std::uint64_t ChunkHeader::time_ns(std::uint64_t ticks) const {
  return ticks >= start_ticks ? start_ns + length_ns(ticks - start_ticks)
                              : start_ns - std::min(start_ns, length_ns(start_ticks - ticks));
}

Result<ChunkHeader> read_chunk_header(io::ByteSource& source, std::uint64_t begin,
                                      std::uint64_t total) {
  std::array<std::byte, kHeaderBytes> head{};
  if (const Status got =
          io::read_exactly_at(source, begin, head, "jfr: the head of a chunk is cut");
      !got) {
    return got.error();
  }
  bytes::ByteCursor in(head, begin, bytes::ByteOrder::kBig);
  if (in.read<std::uint32_t>() != kMagic) {
    return Error{ErrorCode::kCorrupt, begin, "jfr: no chunk begins here"};
  }
  const auto major = in.read<std::uint16_t>();
  in.read<std::uint16_t>();
  if (major < kOldestMajor) {
    return Error{ErrorCode::kUnsupported, begin,
                 "jfr: version 0 of the format, of JDK 7 and 8 before 8u262, is not read"};
  }
  if (major > kMajor) {
    return Error{ErrorCode::kUnsupported, begin, "jfr: a later version of the format than 2"};
  }
  ChunkHeader chunk;
  chunk.begin = begin;
  const auto size = in.read<std::uint64_t>();
  in.read<std::uint64_t>();  // checkpoint and metadata are met on the way
  in.read<std::uint64_t>();
  chunk.start_ns = in.read<std::uint64_t>();
  in.read<std::uint64_t>();  // duration
  chunk.start_ticks = in.read<std::uint64_t>();
  chunk.ticks_per_second = in.read<std::uint64_t>();
  chunk.coding.compressed = (in.read<std::uint32_t>() & 1U) != 0;
  chunk.finished = size >= kHeaderBytes && size <= total - begin;
  chunk.end = chunk.finished ? begin + size : total;
  return chunk;
}

Result<bool> ChunkEvents::next(Event& event) {
  if (event_.size != 0) {
    if (const Result<std::uint64_t> passed = in_.skip(event_.size); !passed) {
      return passed.error();
    }
    event_ = {};
  }
  const Result<std::span<const std::byte>> window = in_.peek(kLongestEventHead);
  if (!window) {
    return window.error();
  }
  bytes::ByteCursor head(*window, in_.offset(), bytes::ByteOrder::kBig);
  event.offset = in_.offset();
  event.size = chunk_.coding.read_int(head);
  event.type = chunk_.coding.read_long(head);
  event.head = head.position();
  if (!head.ok() || event.size < event.head || event.size > chunk_.end - event.offset) {
    return false;
  }
  event_ = event;
  return true;
}

Result<std::span<const std::byte>> ChunkEvents::payload() {
  if (event_.size > kWindow) {
    return std::span<const std::byte>();
  }
  const Result<std::span<const std::byte>> window = in_.peek(static_cast<std::size_t>(event_.size));
  if (!window) {
    return window.error();
  }
  if (window->size() < event_.size) {
    return std::span<const std::byte>();
  }
  return window->subspan(static_cast<std::size_t>(event_.head),
                         static_cast<std::size_t>(event_.size - event_.head));
}

Result<std::vector<std::byte>> read_payload(io::ByteSource& source, const ChunkEvents::Event& event,
                                            std::uint64_t max_bytes) {
  const std::uint64_t size = event.size - event.head;
  if (size > max_bytes) {
    return Error{ErrorCode::kLimit, event.offset, "jfr: metadata or constants larger than allowed"};
  }
  std::vector<std::byte> payload(static_cast<std::size_t>(size));
  if (const Status got =
          io::read_exactly_at(source, event.offset + event.head, payload, "jfr: an event is cut");
      !got) {
    return got.error();
  }
  return payload;
}

}  // namespace stackpack::jfr
