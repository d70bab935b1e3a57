#include "formats/perf/fact_scan.h"

#include <algorithm>
#include <span>
#include <vector>

#include "formats/perf/record.h"

namespace stackpack::perf {

namespace {

constexpr std::size_t kLeastRead = 512;
constexpr std::size_t kMostRead = std::size_t{1} << 16;  // more than the largest record

// Whether a record ends where its header says, and the next one follows.
bool is_ordinary(const RecordHeader& header) {
  const auto type = static_cast<RecordType>(header.type);
  return header.size >= kRecordHeaderBytes && is_known_record(header.type) &&
         type != RecordType::kCompressed && type != RecordType::kCompressed2 &&
         type != RecordType::kAuxtrace && type != RecordType::kHeaderTracingData;
}

class FactScan {
 public:
  FactScan(io::ByteSource& source, std::uint64_t begin, std::uint64_t end)
      : source_(source), at_(begin), end_(end), buffer_(kMostRead) {}

  Result<std::uint64_t> run(CaptureContext& context, RecordConverter& converter) {
    while (end_ - at_ >= kRecordHeaderBytes) {
      Result<std::span<const std::byte>> window = look(kRecordHeaderBytes);
      if (!window) {
        return window.error();
      }
      bytes::ByteCursor in(*window, at_, context.order);
      const RecordHeader header = read_record_header(in);
      if (!in.ok() || !is_ordinary(header) || header.size > end_ - at_ ||
          context.control.stop_requested()) {
        break;
      }
      if (static_cast<RecordType>(header.type) != RecordType::kSample) {
        window = look(header.size);
        if (!window) {
          return window.error();
        }
        if (window->size() < header.size) {
          break;
        }
        const Record record{
            header.type, header.misc, false, at_,
            bytes::ByteCursor(window->subspan(kRecordHeaderBytes, header.size - kRecordHeaderBytes),
                              at_ + kRecordHeaderBytes, context.order)};
        if (const Status converted = converter.convert(record); !converted) {
          return converted.error();
        }
      }
      at_ += header.size;
    }
    return at_;
  }

 private:
  // At least `size` bytes at at_, fewer only at the end. After a long record little is read, as
  // another one may follow; then more and more, for the many short ones of the beginning.
  Result<std::span<const std::byte>> look(std::size_t size) {
    if (at_ < buffer_at_ || at_ - buffer_at_ > filled_ || filled_ - (at_ - buffer_at_) < size) {
      const bool jumped = at_ > buffer_at_ + filled_;
      step_ = jumped ? kLeastRead : std::min(2 * step_, kMostRead);
      const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(
          std::max(step_, size), std::min<std::uint64_t>(end_ - at_, kMostRead)));
      const Result<std::size_t> count = source_.read_at(at_, std::span(buffer_).first(wanted));
      if (!count) {
        return count.error();
      }
      buffer_at_ = at_;
      filled_ = *count;
    }
    const auto from = static_cast<std::size_t>(at_ - buffer_at_);
    return std::span<const std::byte>(buffer_).subspan(from, filled_ - from);
  }

  io::ByteSource& source_;
  std::uint64_t at_;
  std::uint64_t end_;
  std::vector<std::byte> buffer_;
  std::uint64_t buffer_at_ = 0;
  std::size_t filled_ = 0;
  std::size_t step_ = kLeastRead;
};

}  // namespace

Result<std::uint64_t> scan_facts(io::ByteSource& source, std::uint64_t begin, std::uint64_t end,
                                 CaptureContext& context, RecordConverter& converter) {
  return FactScan(source, begin, end).run(context, converter);
}

}  // namespace stackpack::perf
