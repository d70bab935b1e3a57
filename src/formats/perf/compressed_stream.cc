#include "formats/perf/compressed_stream.h"

#include "formats/perf/perf_losses.h"

namespace stackpack::perf {

using capture::SkipReason;

Result<std::optional<SkipReason>> CompressedStream::feed(std::span<const std::byte> piece,
                                                         std::uint64_t offset) {
  used_ = true;
  last_offset_ = offset;
  if (broken_) {
    context_.damage(name_of(skip::kCompressedRecordsUnread), 1, offset);
    return std::optional(skip::kCompressedRecordsUnread);
  }
  for (;;) {
    const Result<std::size_t> count = zstd_.decode(piece, kStepBytes, decoded_);
    const Result<bool> converted = convert_records(offset);
    if (!converted) {
      return converted.error();
    }
    if (!count && count.error().code == ErrorCode::kResource) {
      return count.error();  // nothing is wrong with the capture
    }
    if (!count || !*converted) {
      context_.damage(name_of(skip::kCompressedDataDamaged), 1, offset);
      broken_ = true;
      decoded_.clear();
      return std::optional(skip::kCompressedDataDamaged);
    }
    if (*count < kStepBytes) {
      return std::optional<SkipReason>();
    }
  }
}

// Converts all whole records of what is decoded. False: it is not a sequence of records.
Result<bool> CompressedStream::convert_records(std::uint64_t offset) {
  const std::span<const std::byte> decoded = decoded_;
  std::size_t done = 0;
  bool sound = true;
  while (decoded.size() - done >= kRecordHeaderBytes) {
    bytes::ByteCursor in(decoded.subspan(done), offset, context_.order);
    const RecordHeader header = read_record_header(in);
    if (header.size < kRecordHeaderBytes) {
      sound = false;
      break;
    }
    if (header.size > decoded.size() - done) {
      break;
    }
    const Record record{header.type, header.misc, true, offset,
                        in.sub(header.size - kRecordHeaderBytes)};
    const Status converted = converter_.convert(record);
    if (!converted) {
      return converted.error();
    }
    done += header.size;
  }
  decoded_.erase(decoded_.begin(), decoded_.begin() + static_cast<std::ptrdiff_t>(done));
  return sound;
}

void CompressedStream::finish() {
  if (!decoded_.empty()) {
    context_.damage(name_of(skip::kRecordCut), 1, last_offset_);
  }
  if (used_ && !broken_ && !zstd_.between_blocks()) {
    context_.damage(name_of(skip::kCompressedDataDamaged), 1, last_offset_);
  }
}

}  // namespace stackpack::perf
