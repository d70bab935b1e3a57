#include "formats/etl/file/buffer_merge.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "formats/etl/etl_losses.h"
#include "formats/etl/event/events_not_kept.h"

namespace stackpack::etl {

using capture::SkipReason;

namespace {

// No machine has as many processors. More of them wait, as those do for which there is no memory.
constexpr std::size_t kMostStreams = std::size_t{1} << 14;
constexpr std::size_t kMostProcessorsAhead = 2048;
constexpr std::uint64_t kStreamBytes = 256;  // what a stream takes besides its buffer
// Windows of parked buffers begin and end at multiples of eight bytes, as events do.
constexpr std::size_t kLeastWindowBytes = 96;
constexpr std::size_t kMostEventBytes = std::size_t{64} << 10;

// Why nothing of a buffer was read. Nothing: there was nothing to read.
std::optional<SkipReason> reason_of(BufferDamage damage) {
  switch (damage) {
    case BufferDamage::kTooLarge:
      return skip::kOversizedBuffers;
    case BufferDamage::kCutByFileEnd:
      return skip::kCutBuffers;
    case BufferDamage::kBadCompression:
      return skip::kUndecodableBuffers;
    case BufferDamage::kNotEvents:
      return skip::kBuffersWithoutEvents;
    case BufferDamage::kNone:
    case BufferDamage::kNoSize:
    case BufferDamage::kSizeExceedsDisk:
    case BufferDamage::kUnusedPartCut:
    case BufferDamage::kWrongType:
    case BufferDamage::kInputLeft:
    case BufferDamage::kSizesDisagree:
      break;
  }
  return std::nullopt;
}

// Why the walk over a buffer ended before its end. Nothing: there was nothing more.
std::optional<SkipReason> reason_of(WalkEnd end, BufferDamage damage) {
  switch (end) {
    case WalkEnd::kBadMarker:
      return skip::kBadEventMarkers;
    case WalkEnd::kOldHeader:
      return skip::kObsoleteEventHeaders;
    case WalkEnd::kBadSize:
      // In a buffer that the file cuts off, the last event is cut, too.
      return damage == BufferDamage::kCutByFileEnd ? skip::kCutBuffers : skip::kBadEventSizes;
    case WalkEnd::kBadExtended:
      return skip::kBadExtendedItems;
    case WalkEnd::kClean:  // or all but the start of an event's first field
      return damage == BufferDamage::kCutByFileEnd ? std::optional(skip::kCutBuffers)
                                                   : std::nullopt;
    case WalkEnd::kUnusedRest:
      return damage == BufferDamage::kCutByFileEnd ? skip::kCutBuffers : skip::kBuffersEndedEarly;
    case WalkEnd::kNotYet:
      break;
  }
  return std::nullopt;
}

}  // namespace

BufferMerge::BufferMerge(const BufferIndex& index, io::ByteSource& input,
                         const BufferDecoder& decoder, const MergeLimits& limits,
                         capture::LossCounters& losses, capture::ByteAccount& account)
    : index_(index),
      limits_(limits),
      losses_(losses),
      account_(account),
      // With fewer buffers than this, a thread costs more than it saves; with more processors, what
      // it keeps for each is too much.
      prefetch_(decoder, index.processors.size(),
                limits.read_ahead && !index.first_compressed.empty() && index.count >= 8 &&
                    index.processors.size() <= kMostProcessorsAhead),
      parked_(input, index.processors.size(), limits.scratch_directory),
      window_bytes_(kMostEventBytes) {
  if (!index.processors.empty()) {
    window_bytes_ = static_cast<std::size_t>(std::clamp<std::uint64_t>(
        limits.window_bytes / index.processors.size() / 8 * 8, kLeastWindowBytes, kMostEventBytes));
  }
  streams_.resize(index.processors.size());
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const ProcessorRange& range = index.processors[i];
    streams_[i].next_buffer = range.begin;
    streams_[i].end_buffer = range.end;
    streams_[i].processor = range.processor;
  }
}

BufferMerge::HeapEntry BufferMerge::entry_of(const Stream& stream) const {
  return {part_of(stream), stream.event.clock, stream.buffer->where.offset, number_of(stream)};
}

std::size_t BufferMerge::number_of(const Stream& stream) const {
  return static_cast<std::size_t>(&stream - streams_.data());
}

Status BufferMerge::open_waiting_streams() {
  while (waiting_ < streams_.size()) {
    if (open_bytes_ > limits_.max_open_bytes || heap_.size() >= kMostStreams) {
      losses_.set(loss::kProcessorsMergedLate, LossKind::kNotice,
                  losses_.count(loss::kProcessorsMergedLate) + 1);
      break;
    }
    Stream& stream = streams_[waiting_++];
    request_ahead(stream);
    const Result<bool> more = advance(stream);
    if (!more) {
      return more.error();
    }
    if (*more) {
      heap_.push(entry_of(stream));
    }
  }
  return {};
}

// The stream has an event, and is the current one.
Result<bool> BufferMerge::make_current(Stream& stream) {
  current_ = &stream;
  run_end_ = heap_.empty()                         ? ~std::uint64_t{0}
             : heap_.top().part == part_of(stream) ? heap_.top().clock
                                                   : 0;
  return true;
}

// The current stream has gone on to another event.
Result<bool> BufferMerge::go_on_after(Stream& stream) {
  const HeapEntry here = entry_of(stream);
  if (heap_.empty() || !Earlier{}(heap_.top(), here)) {
    return make_current(stream);
  }
  if (waiting_ == streams_.size()) {
    return make_current(streams_[heap_.replace_top(here).stream]);
  }
  heap_.push(here);
  current_ = nullptr;
  return next_of_any();
}

Result<bool> BufferMerge::next_of_any() {
  if (current_ != nullptr) {
    Stream& stream = *current_;
    const Result<bool> more = advance(stream);
    if (!more) {
      return more.error();
    }
    if (*more) {
      return go_on_after(stream);
    }
    current_ = nullptr;
  }
  if (waiting_ < streams_.size()) {
    if (const Status opened = open_waiting_streams(); !opened) {
      return opened.error();
    }
  }
  return heap_.empty() ? Result<bool>(false) : make_current(streams_[heap_.pop().stream]);
}

Result<bool> BufferMerge::advance(Stream& stream) {
  for (;;) {
    if (stream.buffer != nullptr) {
      if (stream.walker.next(stream.event)) {
        if (stream.lost_before) [[unlikely]] {
          stream.lost_before = false;
          const std::uint64_t clock = stream.event.clock;
          lost_.push_back(
              {stream.last_clock != 0 ? stream.last_clock : clock, clock, stream.processor});
        }
        note_clock(stream, stream.event.clock);
        return true;
      }
      const Result<bool> goes_on = move_window(stream);
      if (!goes_on) {
        return goes_on.error();
      }
      if (*goes_on) {
        continue;
      }
      close_buffer(stream);
    }
    const Result<bool> opened = open_next_buffer(stream);
    if (!opened || !*opened) {
      return opened;
    }
  }
}

void BufferMerge::request_ahead(Stream& stream) {
  if (stream.next_buffer < stream.end_buffer) {
    prefetch_.request(number_of(stream), index_.buffers.get(stream.next_buffer));
  }
}

Result<bool> BufferMerge::open_next_buffer(Stream& stream) {
  if (limits_.control.stop_requested()) {
    return Error{ErrorCode::kCancelled, kNoOffset, "etl: cancelled"};
  }
  if (stream.next_buffer == stream.end_buffer) {
    return false;
  }
  Result<std::unique_ptr<DecodedBuffer>> taken = prefetch_.take(number_of(stream));
  if (!taken) {
    return taken.error();
  }
  stream.buffer = std::move(*taken);
  ++stream.next_buffer;
  request_ahead(stream);
  stream.walker = EventWalker(stream.buffer->events());
  stream.window_begin = 0;
  stream.window_bytes = stream.buffer->event_bytes;
  ++totals_.buffers;
  totals_.compressed_buffers += stream.buffer->header.compressed() ? 1U : 0U;
  totals_.decoded_bytes += stream.buffer->event_bytes;
  count_damage(*stream.buffer);
  stream.lost_before = stream.lost_before ||
                       (stream.buffer->header.flags & (kBufferEventsLost | kBufferBufferLost)) != 0;
  place_buffer(stream);
  const std::uint64_t memory = stream.buffer->memory_bytes() + streams_.size() * kStreamBytes;
  if (open_bytes_ + memory > limits_.max_whole_bytes) {
    if (const Status parked = park(stream); !parked) {
      return parked.error();
    }
  }
  locate_window(stream);
  open_bytes_ += stream.buffer->memory_bytes();
  return true;
}

// Where in the file the events of the window are.
void BufferMerge::locate_window(Stream& stream) {
  stream.stored_plain = !stream.buffer->header.compressed();
  stream.file_offset =
      stream.buffer->where.offset +
      (stream.stored_plain ? kBufferHeaderBytes + stream.window_begin : std::uint64_t{0});
}

// Leaves a window of the buffer's events in memory.
Status BufferMerge::park(Stream& stream) {
  if (stream.buffer->event_bytes <= window_bytes_) {
    return {};
  }
  std::unique_ptr<DecodedBuffer> whole = std::move(stream.buffer);
  stream.buffer = std::make_unique<DecodedBuffer>();
  stream.buffer->where = whole->where;
  stream.buffer->header = whole->header;
  stream.buffer->damage = whole->damage;
  stream.buffer->disk_bytes = whole->disk_bytes;
  stream.buffer->event_bytes = whole->event_bytes;
  const std::span<const std::byte> window = whole->events().first(window_bytes_);
  stream.buffer->memory.assign(window.begin(), window.end());
  stream.window_bytes = window_bytes_;
  stream.walker = EventWalker(stream.buffer->memory);
  const Status parked = parked_.park(number_of(stream), *whole);
  prefetch_.recycle(std::move(whole));
  return parked;
}

// Where the walk has come to the end of the window, not to that of the buffer, it goes on with the
// next window, which begins with the event that was not whole. False: the walk is over.
Result<bool> BufferMerge::move_window(Stream& stream) {
  const DecodedBuffer& buffer = *stream.buffer;
  const bool at_window_end =
      stream.walker.end() == WalkEnd::kClean || stream.walker.end() == WalkEnd::kBadSize;
  const std::size_t walked = stream.walker.position();
  if (!at_window_end || stream.window_begin + stream.window_bytes == buffer.event_bytes ||
      (walked == 0 && stream.window_bytes >= kMostEventBytes)) {
    return false;
  }
  count_walked(stream);
  open_bytes_ -= buffer.memory_bytes();
  stream.window_begin += walked;
  stream.window_bytes = std::min(walked == 0 ? kMostEventBytes : window_bytes_,
                                 buffer.event_bytes - stream.window_begin);
  std::vector<std::byte>& window = stream.buffer->memory;
  if (window.capacity() > 2 * stream.window_bytes) {  // after an event larger than windows are
    std::vector<std::byte>().swap(window);
  }
  window.resize(stream.window_bytes);
  if (const Status read = parked_.read(number_of(stream), stream.window_begin, window); !read) {
    return read.error();
  }
  stream.walker = EventWalker(stream.buffer->memory);
  locate_window(stream);
  open_bytes_ += buffer.memory_bytes();
  return true;
}

// Finds out to which part of the trace the buffer belongs. Two events are asked for their clocks,
// so that a single damaged one makes no lap.
void BufferMerge::place_buffer(Stream& stream) {
  EventWalker probe(stream.buffer->events());
  EventView event;
  std::uint64_t clock = 0;
  for (int i = 0; i < 2 && probe.next(event); ++i) {
    clock = std::max(clock, event.clock);
  }
  const std::uint16_t session = stream.buffer->where.session;
  const bool other_session = session != stream.session;
  if (clock == 0 && !other_session) {
    return;  // no events
  }
  const bool lap = clock < stream.before && (stream.long_before == 0 || clock < stream.long_before);
  if (lap && !other_session) {
    ++stream.lap;
    losses_.add(loss::kClockLaps, LossKind::kNotice, 1, stream.buffer->where.offset);
  }
  if (lap || other_session) {
    stream.last_clock = 0;
    stream.before = 0;
  }
  stream.session = session;
  stream.long_before = stream.before;
  stream.before = clock;
}

void BufferMerge::count_damage(const DecodedBuffer& buffer) {
  const std::uint64_t offset = buffer.where.offset;
  const auto damage = [&](std::string_view name) {
    losses_.add(name, LossKind::kDamage, 1, offset);
  };
  switch (buffer.damage) {
    case BufferDamage::kNone:
      break;
    case BufferDamage::kNoSize:
      damage(loss::kBuffersWithoutSize);
      break;
    case BufferDamage::kTooLarge:
      damage(name_of(skip::kOversizedBuffers));
      break;
    case BufferDamage::kSizeExceedsDisk:
      damage(loss::kBuffersBeyondTheirSpace);
      break;
    case BufferDamage::kCutByFileEnd:
      damage(name_of(skip::kCutBuffers));
      break;
    case BufferDamage::kUnusedPartCut:
      losses_.add(loss::kCutUnusedSpace, LossKind::kNotice, 1, offset);
      break;
    case BufferDamage::kBadCompression:
      damage(name_of(skip::kUndecodableBuffers));
      break;
    case BufferDamage::kWrongType:
      damage(loss::kBuffersOfWrongType);
      break;
    case BufferDamage::kInputLeft:
      damage(loss::kCompressedInputLeft);
      break;
    case BufferDamage::kSizesDisagree:
      damage(loss::kBufferSizesDisagree);
      break;
    case BufferDamage::kNotEvents:
      losses_.add(name_of(skip::kBuffersWithoutEvents), LossKind::kNotice, 1, offset);
      break;
  }
}

// What the walk over a window has counted.
void BufferMerge::count_walked(const Stream& stream) {
  if (const std::uint64_t messages = stream.walker.messages(); messages != 0) {
    totals_.messages += messages;
    losses_.add(kMessagesNotKept, LossKind::kNotice, messages, stream.buffer->where.offset);
    if (stream.stored_plain) {
      account_.parsed -= stream.walker.message_bytes();
      account_.skipped.add(skip::kEventsNotKept, stream.walker.message_bytes());
    }
  }
  if (stream.walker.overlong() != 0) {
    losses_.add(loss::kOverlongEvents, LossKind::kDamage, stream.walker.overlong(),
                stream.buffer->where.offset);
  }
}

void BufferMerge::count_walk_end(const Stream& stream) {
  const std::uint64_t base = stream.buffer->where.offset;
  const std::uint64_t offset =
      stream.buffer->header.compressed()
          ? base
          : base + kBufferHeaderBytes + stream.window_begin + stream.walker.position();
  const std::optional<SkipReason> reason = reason_of(stream.walker.end(), stream.buffer->damage);
  // A buffer that the file cuts off was counted when it was opened.
  if (reason && *reason != skip::kCutBuffers) {
    losses_.add(name_of(*reason), LossKind::kDamage, 1, offset);
  }
}

// Says where the bytes of the buffer went. In a compressed buffer the share of the body that was
// understood is counted in proportion to the decompressed bytes.
void BufferMerge::close_buffer(Stream& stream) {
  const DecodedBuffer& buffer = *stream.buffer;
  count_walk_end(stream);
  count_walked(stream);
  const std::uint64_t body = buffer.disk_bytes - kBufferHeaderBytes;
  const std::uint64_t walked = stream.window_begin + stream.walker.position();
  account_.parsed += kBufferHeaderBytes;
  std::uint64_t unread = body;  // of the part that holds events
  std::optional<SkipReason> reason = reason_of(buffer.damage);
  if (buffer.event_bytes != 0) {
    const std::uint64_t used =
        buffer.header.compressed() ? body : std::min<std::uint64_t>(body, buffer.event_bytes);
    const std::uint64_t parsed = used * walked / buffer.event_bytes;
    account_.parsed += parsed;
    account_.padding += body - used;
    unread = used - parsed;
    reason = reason_of(stream.walker.end(), buffer.damage);
  }
  if (reason) {
    account_.skipped.add(*reason, unread);
  } else {
    account_.padding += unread;
  }
  done_bytes_ += buffer.disk_bytes;
  limits_.control.advance_to(done_bytes_);
  open_bytes_ -= std::min<std::uint64_t>(open_bytes_, buffer.memory_bytes());
  if (stream.window_bytes == buffer.event_bytes) {
    prefetch_.recycle(std::move(stream.buffer));
  }
  stream.buffer = nullptr;
}

}  // namespace stackpack::etl
