#include "formats/perf/record_stream.h"

#include <algorithm>
#include <vector>

#include "formats/perf/perf_losses.h"
#include "formats/perf/record_sizes.h"
#include "formats/perf/tracepoint_values.h"

namespace stackpack::perf {

using capture::SkipReason;

namespace {

constexpr std::uint32_t kMaxSimpleperfBytes = std::uint32_t{256} << 20;

constexpr std::uint64_t kCompressed2HeaderBytes = 16;

// What the perf tool prints when its work is done, if that went into the pipe, too.
bool is_text(std::span<const std::byte> bytes) {
  constexpr std::size_t kMaxText = 4096;
  return !bytes.empty() && bytes.size() <= kMaxText &&
         std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) {
           const auto c = static_cast<unsigned>(byte);
           return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\r' || c == '\t';
         });
}

}  // namespace

Status RecordStream::refill(std::size_t size) {
  const auto window = reader_->peek(size);
  if (!window) {
    return window.error();
  }
  at_end_ = window->size() < size;
  context_.control.advance_to(context_.bytes_before + reader_->offset());
  if (context_.control.stop_requested()) {
    return Error{ErrorCode::kCancelled, reader_->offset(), "perf: cancelled"};
  }
  return {};
}

Result<bool> RecordStream::run(io::BufferedReader& reader, std::uint64_t most) {
  reader_ = &reader;
  at_end_ = false;
  const std::uint64_t start = reader.offset();
  while (reader.offset() - start < most) {
    if (reader.buffered().size() < kLookAhead && !at_end_) {
      const Status filled = refill(kLookAhead);
      if (!filled) {
        return filled.error();
      }
    }
    const Result<Step> result = step();
    if (!result) {
      return result.error();
    }
    if (*result == Step::kEnd) {
      compressed_.finish();
      const Status end = refill(1);
      return end ? Result<bool>(true) : end.error();
    }
  }
  return false;
}

Result<RecordStream::Step> RecordStream::step() {
  const std::span<const std::byte> window = reader_->buffered();
  if (window.size() < kRecordHeaderBytes) {
    return window.empty() ? Step::kEnd : take_cut_record(window);
  }
  bytes::ByteCursor in(window, reader_->offset(), context_.order);
  const RecordHeader header = read_record_header(in);
  if (static_cast<RecordType>(header.type) == RecordType::kCompressed2) {
    return take_compressed2(header, window);
  }
  if (is_simpleperf_record(header.type)) {
    return take_simpleperf(header, window);
  }
  if (!is_known_record(header.type)) {
    return take_unknown(header, window);
  }
  return take_record(header, window);
}

// Its size has 32 bits. Of those that do not fit the window (symbols of the kernel, formats of many
// tracepoints) nothing is read.
Result<RecordStream::Step> RecordStream::take_simpleperf(const RecordHeader& header,
                                                         std::span<const std::byte> window) {
  const std::uint32_t size = std::uint32_t{header.misc} << 16 | header.size;
  if (size < kRecordHeaderBytes || size > kMaxSimpleperfBytes) {
    return find_records();
  }
  if (size <= window.size()) {
    const Record record{
        header.type, 0, false, reader_->offset(),
        bytes::ByteCursor(window.subspan(kRecordHeaderBytes, size - kRecordHeaderBytes),
                          reader_->offset() + kRecordHeaderBytes, context_.order)};
    const Status converted = converter_.convert(record);
    if (!converted) {
      return converted.error();
    }
    if (static_cast<RecordType>(header.type) == RecordType::kSimpleperfTracingData) {
      read_formats_inside(record);
    }
    reader_->consume(size);
    return Step::kGoOn;
  }
  if (at_end_) {
    return take_cut_record(window);
  }
  const std::uint64_t offset = reader_->offset();
  const Result<std::uint64_t> passed = reader_->skip(size);
  if (!passed) {
    return passed.error();
  }
  at_end_ = false;
  if (*passed < size) {
    context_.damage(name_of(skip::kRecordCut), 1, offset);
    context_.account.skipped.add(skip::kRecordCut, *passed);
    return Step::kEnd;
  }
  if (static_cast<RecordType>(header.type) == RecordType::kSimpleperfEventId) {
    context_.damage(loss::kEventIdsMissing, 1, offset);
  }
  context_.records_not_kept.add(header.type, offset);
  context_.account.skipped.add(skip::kRecordsNotKept, size);
  return Step::kGoOn;
}

Result<RecordStream::Step> RecordStream::take_record(const RecordHeader& header,
                                                     std::span<const std::byte> window) {
  if (header.size < kRecordHeaderBytes) {
    return find_records();
  }
  if (header.size > window.size()) {
    return take_cut_record(window);
  }
  const Record record{
      header.type, header.misc, false, reader_->offset(),
      bytes::ByteCursor(window.subspan(kRecordHeaderBytes, header.size - kRecordHeaderBytes),
                        reader_->offset() + kRecordHeaderBytes, context_.order)};
  if (static_cast<RecordType>(header.type) == RecordType::kCompressed) {
    const Status fed = feed_compressed(record.payload.rest(), header.size);
    if (!fed) {
      return fed.error();
    }
    return Step::kGoOn;
  }
  const Status converted = converter_.convert(record);
  if (!converted) {
    return converted.error();
  }
  bytes::ByteCursor payload = record.payload;
  std::uint64_t outside = 0;
  auto reason = skip::kAuxtraceData;
  if (static_cast<RecordType>(header.type) == RecordType::kAuxtrace) {
    outside = payload.read<std::uint64_t>();
  } else if (static_cast<RecordType>(header.type) == RecordType::kHeaderTracingData &&
             !tracing_data_inside(payload)) {
    outside = payload.read<std::uint32_t>();
    reason = skip::kTracingData;
  } else if (static_cast<RecordType>(header.type) == RecordType::kHeaderTracingData) {
    read_formats_inside(record);
  }
  reader_->consume(header.size);
  if (reason.name() == skip::kTracingData.name() && wants_formats(context_)) {
    return take_tracing_data(record, outside);
  }
  return outside == 0 ? Step::kGoOn : take_outside_payload(record, outside, reason);
}

Result<RecordStream::Step> RecordStream::take_outside_payload(const Record& record,
                                                              std::uint64_t payload_bytes,
                                                              SkipReason reason) {
  const Result<std::uint64_t> passed = reader_->skip(payload_bytes);
  if (!passed) {
    return passed.error();
  }
  context_.account.skipped.add(reason, *passed);
  at_end_ = false;
  if (*passed < payload_bytes) {
    context_.damage(loss::kOutsidePayloadCut, 1, record.offset);
  }
  return Step::kGoOn;
}

// Nothing of it is kept; it says what samples of tracepoints mean.
Result<RecordStream::Step> RecordStream::take_tracing_data(const Record& record,
                                                           std::uint64_t payload_bytes) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;
  if (payload_bytes > kMostBytes) {
    return take_outside_payload(record, payload_bytes, skip::kTracingData);
  }
  const std::uint64_t offset = reader_->offset();
  std::vector<std::byte> data;
  while (data.size() < payload_bytes) {
    const auto window = reader_->peek(1);
    if (!window) {
      return window.error();
    }
    const auto piece = window->first(static_cast<std::size_t>(
        std::min<std::uint64_t>(window->size(), payload_bytes - data.size())));
    if (piece.empty()) {
      break;
    }
    data.insert(data.end(), piece.begin(), piece.end());
    reader_->consume(piece.size());
  }
  at_end_ = false;
  context_.account.skipped.add(skip::kTracingData, data.size());
  if (data.size() < payload_bytes ||
      !read_formats(context_, bytes::ByteCursor(data, offset, context_.order))) {
    context_.damage(loss::kOutsidePayloadCut, 1, record.offset);
  }
  return Step::kGoOn;
}

// simpleperf has the same in the record itself, after its size. What cannot be read there says
// nothing of the samples, which are counted then.
void RecordStream::read_formats_inside(const Record& record) const {
  if (!wants_formats(context_)) {
    return;
  }
  bytes::ByteCursor payload = record.payload;
  const bytes::ByteCursor data = payload.sub(payload.read<std::uint32_t>());
  if (payload.ok()) {
    static_cast<void>(read_formats(context_, data));
  }
}

Status RecordStream::feed_compressed(std::span<const std::byte> piece, std::size_t record_bytes) {
  const Result<std::optional<SkipReason>> fed = compressed_.feed(piece, reader_->offset());
  if (!fed) {
    return fed.error();
  }
  if (const std::optional<SkipReason> unread = *fed) {
    context_.account.skipped.add(*unread, record_bytes);
  } else {
    context_.account.parsed += record_bytes;
  }
  reader_->consume(record_bytes);
  return {};
}

Result<RecordStream::Step> RecordStream::take_compressed2(const RecordHeader& header,
                                                          std::span<const std::byte> window) {
  bytes::ByteCursor in(window, reader_->offset(), context_.order);
  in.skip(kRecordHeaderBytes);
  const auto data_size = in.read<std::uint64_t>();
  if (header.size >= kCompressed2HeaderBytes &&
      data_size <= header.size - kCompressed2HeaderBytes) {
    if (header.size > window.size()) {
      return take_cut_record(window);
    }
    const Status fed = feed_compressed(
        window.subspan(kCompressed2HeaderBytes, static_cast<std::size_t>(data_size)), header.size);
    if (!fed) {
      return fed.error();
    }
    return Step::kGoOn;
  }
  std::uint64_t total = 0;
  if (in.ok() && bytes::checked_add(kCompressed2HeaderBytes, data_size, total) &&
      overflow_fits(total, window)) {
    context_.notice(loss::kCompressedSizeOverflow, 1, reader_->offset());
    return take_overflown(total, window);
  }
  if (!in.ok()) {
    return take_cut_record(window);
  }
  compressed_.break_off();
  return find_records();
}

// `total`: bytes of the record by its data_size. One piece of up to 65,535 bytes is followed by
// another record; of several pieces, each has a COMPRESSED2 header and all but the last are full.
bool RecordStream::overflow_fits(std::uint64_t total, std::span<const std::byte> window) const {
  const auto first = static_cast<std::size_t>(std::min<std::uint64_t>(total, kMaxRecordBytes));
  if (first > window.size()) {
    return false;
  }
  bytes::ByteCursor next(window.subspan(first), 0, context_.order);
  if (total <= kMaxRecordBytes && next.remaining() == 0) {
    return at_end_;
  }
  const RecordHeader header = read_record_header(next);
  if (!next.ok() || header.size < kRecordHeaderBytes) {
    // A record right after may have wrapped around, too.
    return next.ok() && static_cast<RecordType>(header.type) == RecordType::kCompressed2;
  }
  return total <= kMaxRecordBytes
             ? is_known_record(header.type)
             : static_cast<RecordType>(header.type) == RecordType::kCompressed2 &&
                   header.size > kCompressed2HeaderBytes && header.size <= total - kMaxRecordBytes;
}

Result<RecordStream::Step> RecordStream::take_overflown(std::uint64_t total,
                                                        std::span<const std::byte> window) {
  std::uint64_t left = total;
  auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(total, kMaxRecordBytes));
  for (;;) {
    const Status fed = feed_compressed(
        window.subspan(kCompressed2HeaderBytes, piece - kCompressed2HeaderBytes), piece);
    if (!fed) {
      return fed.error();
    }
    left -= piece;
    if (left == 0) {
      return Step::kGoOn;
    }
    const Status filled = refill(kLookAhead);
    if (!filled) {
      return filled.error();
    }
    window = reader_->buffered();
    bytes::ByteCursor in(window, reader_->offset(), context_.order);
    const RecordHeader header = read_record_header(in);
    if (!in.ok() || static_cast<RecordType>(header.type) != RecordType::kCompressed2 ||
        header.size <= kCompressed2HeaderBytes || header.size > left ||
        header.size > window.size()) {
      compressed_.break_off();
      return in.ok() && header.size <= window.size() ? find_records() : take_cut_record(window);
    }
    piece = header.size;
  }
}

Result<RecordStream::Step> RecordStream::take_unknown(const RecordHeader& header,
                                                      std::span<const std::byte> window) {
  if (kind_ == StreamKind::kPipe && at_end_ && is_text(window)) {
    return take_text(window);
  }
  if (probe_.may_pass(header, window, at_end_)) {
    return take_record(header, window);
  }
  return header.size > window.size() && header.type != 0 && kind_ == StreamKind::kPipe
             ? take_cut_record(window)
             : find_records();
}

// What is left is shorter than the record it begins with.
Result<RecordStream::Step> RecordStream::take_cut_record(std::span<const std::byte> window) {
  if (kind_ == StreamKind::kSection) {
    return find_records();  // the end is known: it is the size that is wrong
  }
  if (kind_ == StreamKind::kPipe && is_text(window)) {
    return take_text(window);
  }
  context_.damage(name_of(skip::kRecordCut), 1, reader_->offset());
  return skip_rest(skip::kRecordCut);
}

Result<RecordStream::Step> RecordStream::take_text(std::span<const std::byte> window) {
  context_.notice(name_of(skip::kTrailingText), window.size(), reader_->offset());
  return skip_rest(skip::kTrailingText);
}

Result<RecordStream::Step> RecordStream::skip_rest(SkipReason reason) {
  const Result<std::uint64_t> passed = reader_->skip(~std::uint64_t{0});
  if (!passed) {
    return passed.error();
  }
  context_.account.skipped.add(reason, *passed);
  return Step::kEnd;
}

Status RecordStream::skip_damaged(std::size_t bytes) {
  context_.damage(name_of(skip::kDamagedBytes), bytes, reader_->offset());
  context_.account.skipped.add(skip::kDamagedBytes, bytes);
  reader_->consume(bytes);
  return refill(kLookAhead);
}

// The header at the position is damaged. Goes on where records begin again, if such a place is
// found.
Result<RecordStream::Step> RecordStream::find_records() {
  context_.damage(loss::kRecordHeaderDamaged, 1, reader_->offset());
  if (kind_ == StreamKind::kPipe || compressed_.used()) {
    compressed_.break_off();
    const std::uint64_t offset = reader_->offset();
    const Result<Step> rest = skip_rest(skip::kDamagedBytes);
    context_.damage(name_of(skip::kDamagedBytes), reader_->offset() - offset, offset);
    return rest;
  }
  std::size_t at = 1;
  for (;;) {
    const Status filled = refill(at + RecordProbe::kReach);
    if (!filled) {
      return filled.error();
    }
    const std::span<const std::byte> window = reader_->buffered();
    const std::size_t stop =
        at_end_ ? window.size() : window.size() - std::min(window.size(), RecordProbe::kReach) + 1;
    for (; at < stop; ++at) {
      if (probe_.records_begin(window.subspan(at), at_end_)) {
        const Status skipped = skip_damaged(at);
        if (!skipped) {
          return skipped.error();
        }
        return Step::kGoOn;
      }
    }
    const Status skipped = skip_damaged(std::min(at, window.size()));
    if (!skipped) {
      return skipped.error();
    }
    if (reader_->buffered().empty()) {
      return Step::kEnd;
    }
    at = 0;
  }
}

}  // namespace stackpack::perf
