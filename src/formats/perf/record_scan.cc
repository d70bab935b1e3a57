#include "formats/perf/record_scan.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "formats/perf/partial_record.h"
#include "formats/perf/record.h"

namespace stackpack::perf {

namespace {

constexpr std::size_t kLeastRead = 512;
constexpr std::size_t kMostRead = std::size_t{1} << 17;  // some records; stays in the cache
// Of a long sample: its fields, and what most walks need of its dump.
constexpr std::size_t kHead = std::size_t{4} << 10;
// The size of a dump that is there, and the fields after it.
constexpr std::size_t kTail = 64;
// One more system call costs as much as copying this many bytes.
constexpr std::size_t kLongSample = std::size_t{12} << 10;
static_assert(kMostRead > kMaxRecordBytes + kHead && kLongSample > kHead + kTail);

// Whether a record ends where its header says, and the next one follows.
bool is_ordinary(const RecordHeader& header) {
  const auto type = static_cast<RecordType>(header.type);
  return header.size >= kRecordHeaderBytes && is_known_record(header.type) &&
         type != RecordType::kCompressed && type != RecordType::kCompressed2 &&
         type != RecordType::kAuxtrace && type != RecordType::kHeaderTracingData;
}

// The bytes from at_ on are read into a window: its part from place_ to filled_. Of a long sample
// only both ends are read, each to its place, so that the next record begins where it would anyway.
class RecordScan {
 public:
  RecordScan(io::ByteSource& source, std::uint64_t begin, std::uint64_t end,
             CaptureContext& context, RecordConverter& converter)
      : source_(source),
        context_(context),
        converter_(converter),
        at_(begin),
        end_(end),
        window_(2 * kMostRead) {}

  Result<std::uint64_t> run() {
    while (end_ - at_ >= kRecordHeaderBytes) {
      if (const Status read = read_to(kRecordHeaderBytes); !read) {
        return read.error();
      }
      bytes::ByteCursor in(there(), at_, context_.order);
      const RecordHeader header = read_record_header(in);
      if (!in.ok() || !is_ordinary(header) || header.size > end_ - at_ ||
          context_.control.stop_requested()) {
        break;
      }
      const bool is_sample = static_cast<RecordType>(header.type) == RecordType::kSample;
      Result<bool> taken = true;
      if (is_sample && context_.without_samples) {
        ++context_.records;
        pass(header.size);
      } else if (is_sample && header.size >= kLongSample) {
        taken = take_long_sample(header);
      } else {
        taken = take(header);
      }
      if (!taken) {
        return taken.error();
      }
      if (!*taken) {
        break;
      }
    }
    return at_;
  }

 private:
  [[nodiscard]] std::span<const std::byte> there() const {
    return std::span<const std::byte>(window_).subspan(place_, filled_ - place_);
  }

  void pass(std::size_t size) {
    jumped_ = size > filled_ - place_;
    at_ += size;
    place_ += size;
    if (place_ >= filled_) {
      place_ = filled_ = 0;
    }
  }

  // Reads until `size` bytes are there, fewer only at the end. After a record that was passed over
  // little is read, as another one may follow; then more and more, for the many short ones of the
  // beginning.
  Status read_to(std::size_t size) {
    if (filled_ - place_ >= size) {
      return {};
    }
    step_ = jumped_ ? kLeastRead : std::min(2 * step_, kMostRead);
    jumped_ = false;
    make_room(std::max(size, step_));
    const std::size_t have = filled_ - place_;
    const std::uint64_t left = end_ - at_ - have;
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(std::max(step_, size) - have, left));
    const Result<std::size_t> count =
        source_.read_at(at_ + have, std::span(window_).subspan(filled_, wanted));
    if (!count) {
      return count.error();
    }
    filled_ += *count;
    context_.control.advance_to(context_.bytes_before + at_);
    return {};
  }

  // Room for `size` bytes from at_ on.
  void make_room(std::size_t size) {
    if (window_.size() - place_ < size) {
      const auto begin = window_.begin();
      std::copy(begin + static_cast<std::ptrdiff_t>(place_),
                begin + static_cast<std::ptrdiff_t>(filled_), begin);
      filled_ -= place_;
      place_ = 0;
    }
  }

  Record record_of(const RecordHeader& header) const {
    return {header.type, header.misc, false, at_,
            bytes::ByteCursor(std::span<const std::byte>(window_).subspan(
                                  place_ + kRecordHeaderBytes, header.size - kRecordHeaderBytes),
                              at_ + kRecordHeaderBytes, context_.order)};
  }

  // False: it is cut.
  Result<bool> take(const RecordHeader& header) {
    if (const Status read = read_to(header.size); !read) {
      return read.error();
    }
    if (filled_ - place_ < header.size) {
      return false;
    }
    if (const Status converted = converter_.convert(record_of(header)); !converted) {
      return converted.error();
    }
    pass(header.size);
    return true;
  }

  Result<bool> take_long_sample(const RecordHeader& header) {
    if (const Status read = read_to(kHead); !read) {
      return read.error();
    }
    const std::size_t head = std::min<std::size_t>(filled_ - place_, header.size);
    if (head == header.size) {
      return take(header);
    }
    step_ = kLeastRead;
    // Its end, and the beginning of the next one.
    make_room(header.size + kHead);
    const std::size_t tail = std::max<std::size_t>(head, header.size - kTail);
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(header.size + kHead, end_ - at_)) - tail;
    const Result<std::size_t> count =
        source_.read_at(at_ + tail, std::span(window_).subspan(place_ + tail, wanted));
    if (!count) {
      return count.error();
    }
    if (tail + *count < header.size) {
      return false;
    }
    PartialRecord partial(
        source_, at_ + kRecordHeaderBytes,
        std::span(window_).subspan(place_ + kRecordHeaderBytes, header.size - kRecordHeaderBytes),
        head - kRecordHeaderBytes, tail - kRecordHeaderBytes);
    Record record = record_of(header);
    record.partial = &partial;
    if (const Status converted = converter_.convert(record); !converted) {
      return converted.error();
    }
    if (!partial.status()) {
      return partial.status().error();
    }
    at_ += header.size;
    place_ += header.size;
    filled_ = place_ + (tail + *count - header.size);
    context_.control.advance_to(context_.bytes_before + at_);
    return true;
  }

  io::ByteSource& source_;
  CaptureContext& context_;
  RecordConverter& converter_;
  std::uint64_t at_;
  std::uint64_t end_;
  std::vector<std::byte> window_;
  std::size_t place_ = 0;
  std::size_t filled_ = 0;
  std::size_t step_ = kLeastRead;
  bool jumped_ = false;  // bytes before at_ were passed over
};

}  // namespace

Result<std::uint64_t> scan_records(io::ByteSource& source, std::uint64_t begin, std::uint64_t end,
                                   CaptureContext& context, RecordConverter& converter) {
  return RecordScan(source, begin, end, context, converter).run();
}

}  // namespace stackpack::perf
