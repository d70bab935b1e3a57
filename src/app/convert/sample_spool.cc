#include "app/convert/sample_spool.h"

#include <algorithm>
#include <array>
#include <memory>
#include <tuple>

#include "app/convert/spool_codec.h"
#include "core/fetch_ahead.h"
#include "core/merge_heap.h"
#include "core/radix_sort.h"

namespace stackpack::app {

namespace {

constexpr std::size_t kBatch = 1024;
constexpr std::size_t kRowsAhead = 24;  // samples between fetching one and taking it
constexpr std::size_t kBuffers = 2;     // one fills while the other is written
// Many pages at once: the last one of each write is written in parts.
constexpr std::size_t kWriteBlock = std::size_t{256} * 1024;
constexpr std::size_t kSmallestReadBlock = 4096;
constexpr std::size_t kLargestReadBlock = std::size_t{256} * 1024;

// The order of `samples` by time, equal times as they are.
void order_by_time(std::span<const SpooledSample> samples, std::vector<core::OrderKey>& keys,
                   std::vector<core::OrderKey>& scratch) {
  keys.resize(samples.size());
  for (std::uint32_t i = 0; i < samples.size(); ++i) {
    keys[i] = {samples[i].time_ns, i};
  }
  core::sort_by_value(keys, scratch);
}

// Equal times by rank, equal ranks as they are.
void order_equal_times(std::span<const SpooledSample> samples, std::vector<core::OrderKey>& keys) {
  const auto before = [samples](const core::OrderKey& a, const core::OrderKey& b) {
    return samples[a.index].pending < samples[b.index].pending;
  };
  for (auto begin = keys.begin(); begin != keys.end();) {
    auto end = begin;
    while (end != keys.end() && samples[end->index].time_ns == samples[begin->index].time_ns) {
      ++end;
    }
    std::stable_sort(begin, end, before);
    begin = end;
  }
}

}  // namespace

// Decodes one run, a block at a time.
class SampleSpool::RunReader {
 public:
  RunReader(const io::SpillFile& scratch, const Run& run, std::uint32_t number,
            std::size_t block_bytes)
      : scratch_(scratch), run_(run), number_(number), block_bytes_(block_bytes) {}

  /// False at the end of the run.
  Result<bool> advance() {
    if (++at_ < decoded_) {
      return true;
    }
    return decode_more();
  }

  [[nodiscard]] const SpooledSample& current() const { return samples_[at_]; }
  [[nodiscard]] std::uint32_t number() const { return number_; }

 private:
  Result<bool> decode_more() {
    at_ = 0;
    decoded_ = 0;
    while (decoded_ < kDecoded && done_ < run_.count) {
      if (end_ - begin_ < kMaxSpooledBytes && read_ < run_.bytes) {
        const Status filled = fill();
        if (!filled) {
          return filled.error();
        }
      }
      // After the last sample there are zeros enough to look at.
      const SpooledSample& last = samples_[(decoded_ + kDecoded - 1) % kDecoded];
      begin_ += decode_spooled(block_.data() + begin_, last, samples_[decoded_]);
      if (begin_ > end_) {
        return Error{ErrorCode::kIo, kNoOffset,
                     "temporary file does not say what was written to it"};
      }
      ++decoded_;
      ++done_;
    }
    return decoded_ != 0;
  }

  Status fill() {
    block_.erase(block_.begin(), block_.begin() + static_cast<std::ptrdiff_t>(begin_));
    end_ -= begin_;
    begin_ = 0;
    const auto more = static_cast<std::size_t>(
        std::min<std::uint64_t>(std::max(block_bytes_, kMaxSpooledBytes), run_.bytes - read_));
    block_.resize(end_ + more);
    const Status status = scratch_.read_at(run_.offset + read_, std::span(block_).subspan(end_));
    end_ += more;
    read_ += more;
    block_.resize(end_ + kMaxSpooledBytes);
    return status;
  }

  static constexpr std::size_t kDecoded = 32;

  const io::SpillFile& scratch_;
  Run run_;
  std::uint32_t number_;
  std::size_t block_bytes_;
  std::vector<std::byte> block_;  // [begin_, end_) is left to decode, zeros follow
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t read_ = 0;
  std::uint64_t done_ = 0;
  std::array<SpooledSample, kDecoded> samples_{};  // in a ring
  std::size_t at_ = 0;
  std::size_t decoded_ = 0;
};

SampleSpool::SampleSpool(std::string scratch_directory, std::uint64_t buffer_bytes, bool by_rank)
    : scratch_(std::move(scratch_directory)),
      capacity_(std::max<std::size_t>(
          16, static_cast<std::size_t>(buffer_bytes / 2 / sizeof(SpooledSample)))),
      buffer_bytes_(buffer_bytes),
      by_rank_(by_rank) {
  pipeline_.emplace(
      1, kBuffers, [this](unsigned, Buffer& buffer) { return write_run(buffer); },
      [this](Buffer& buffer) {
        runs_.push_back(buffer.run);
        buffer.samples.clear();
        buffer.in_order = true;
        return Status();
      });
}

Status SampleSpool::add(const Sample& sample, std::uint16_t segment, std::uint32_t node,
                        std::uint32_t pending) {
  if (pipeline_->filling().samples.size() == capacity_) {
    if (const Status begun = pipeline_->submit(); !begun) {
      return begun;
    }
  }
  Buffer& filling = pipeline_->filling();
  std::vector<SpooledSample>& samples = filling.samples;
  if (samples.empty()) {
    samples.reserve(std::min<std::size_t>(capacity_, 4096));
  } else if (sample.time_ns < samples.back().time_ns ||
             (by_rank_ && sample.time_ns == samples.back().time_ns &&
              pending < samples.back().pending)) {
    filling.in_order = false;
  }
  if (samples.size() == samples.capacity()) {
    samples.reserve(std::min(capacity_, 2 * samples.capacity()));
  }
  core::fetch_ahead(samples);
  // Where it stays: a copy would be read before its fields are out of the processor.
  SpooledSample& row = samples.emplace_back();
  static_cast<Sample&>(row) = sample;
  row.segment = segment;
  row.node = node;
  row.pending = pending;
  ++count_;
  return {};
}

Status SampleSpool::Buffer::visit(
    const std::function<Status(std::span<const SpooledSample>)>& visit, bool by_rank) const {
  if (in_order) {
    for (std::size_t at = 0; at < samples.size(); at += kBatch) {
      const auto batch = std::span<const SpooledSample>(samples).subspan(
          at, std::min(kBatch, samples.size() - at));
      if (const Status visited = visit(batch); !visited) {
        return visited;
      }
    }
    return {};
  }
  std::vector<core::OrderKey> keys;
  std::vector<core::OrderKey> scratch;
  order_by_time(samples, keys, scratch);
  if (by_rank) {
    order_equal_times(samples, keys);
  }
  std::vector<SpooledSample> batch;
  for (std::size_t at = 0; at < keys.size(); at += kBatch) {
    batch.clear();
    for (std::size_t i = at; i < std::min(at + kBatch, keys.size()); ++i) {
      __builtin_prefetch(&samples[keys[std::min(i + kRowsAhead, keys.size() - 1)].index]);
      batch.push_back(samples[keys[i].index]);
    }
    if (const Status visited = visit(batch); !visited) {
      return visited;
    }
  }
  return {};
}

Status SampleSpool::write_run(Buffer& buffer) {
  Run& run = buffer.run;
  run.offset = scratch_.size();
  run.count = buffer.samples.size();
  SpooledSample last;
  bool first = true;
  std::size_t size = 0;
  const auto flush = [&]() -> Status {
    const Result<std::uint64_t> appended = scratch_.append(std::span(block_).first(size));
    size = 0;
    return appended ? Status{} : Status(appended.error());
  };
  const auto write = [&](std::span<const SpooledSample> batch) -> Status {
    if (first) {
      run.first_time_ns = batch.front().time_ns;
      run.first_rank = by_rank_ ? batch.front().pending : 0;
    }
    first = false;
    for (const SpooledSample& sample : batch) {
      size += encode_spooled(sample, last, block_.data() + size);
      last = sample;
    }
    return size < kWriteBlock ? Status{} : flush();
  };
  block_.resize(kWriteBlock + kBatch * kMaxSpooledBytes);
  Status written = buffer.visit(write, by_rank_);
  if (written && size != 0) {
    written = flush();
  }
  if (!written) {
    return written;
  }
  run.bytes = scratch_.size() - run.offset;
  return {};
}

// Draws samples from all runs in order of (time, rank, number of the run).
class SampleSpool::RunMerge {
 public:
  RunMerge(const io::SpillFile& scratch, std::vector<Run> runs, std::size_t block_bytes,
           bool by_rank)
      : scratch_(scratch),
        runs_(std::move(runs)),
        block_bytes_(block_bytes),
        by_rank_(by_rank),
        open_(Earlier{by_rank}) {
    unopened_.resize(runs_.size());
    for (std::uint32_t i = 0; i < runs_.size(); ++i) {
      unopened_[i] = i;
    }
    // Last first, so that opening one is pop_back.
    std::stable_sort(unopened_.begin(), unopened_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return order_of(a) > order_of(b); });
  }

  /// Replaces `batch` with the next samples, at most kBatch; none at the end.
  Status next(std::vector<SpooledSample>& batch) {
    batch.clear();
    while (batch.size() < kBatch) {
      if (const Status opened = open_due_runs(); !opened) {
        return opened;
      }
      if (open_.empty()) {
        break;
      }
      Reader first = open_.pop();
      const Result<bool> more = drain(*first, batch);
      if (!more) {
        return more.error();
      }
      if (*more) {
        open_.push(std::move(first));
      }
    }
    return {};
  }

 private:
  using Reader = std::unique_ptr<RunReader>;
  using Order = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;

  static Order order_of(const RunReader& reader, bool by_rank) {
    return {reader.current().time_ns, by_rank ? reader.current().pending : 0, reader.number()};
  }
  [[nodiscard]] Order order_of(std::uint32_t run) const {
    return {runs_[run].first_time_ns, runs_[run].first_rank, run};
  }

  struct Earlier {
    bool by_rank = false;
    bool operator()(const Reader& a, const Reader& b) const {
      return order_of(*a, by_rank) < order_of(*b, by_rank);
    }
  };

  // Takes from the reader, which is not in the heap and has the earliest sample of all, while that
  // stays so. False: its run is at the end.
  Result<bool> drain(RunReader& reader, std::vector<SpooledSample>& batch) {
    Order limit(~std::uint64_t{0}, ~std::uint32_t{0}, ~std::uint32_t{0});
    if (!open_.empty()) {
      limit = order_of(*open_.top(), by_rank_);
    }
    if (!unopened_.empty()) {
      limit = std::min(limit, order_of(unopened_.back()));
    }
    while (batch.size() < kBatch && order_of(reader, by_rank_) <= limit) {
      batch.push_back(reader.current());
      const Result<bool> more = reader.advance();
      if (!more || !*more) {
        return more;
      }
    }
    return true;
  }

  Status open_due_runs() {
    while (!unopened_.empty() && (open_.empty() || runs_[unopened_.back()].first_time_ns <=
                                                       open_.top()->current().time_ns)) {
      const std::uint32_t number = unopened_.back();
      unopened_.pop_back();
      auto reader = std::make_unique<RunReader>(scratch_, runs_[number], number, block_bytes_);
      const Result<bool> more = reader->advance();
      if (!more) {
        return more.error();
      }
      open_.push(std::move(reader));
    }
    return {};
  }

  const io::SpillFile& scratch_;
  std::vector<Run> runs_;
  std::size_t block_bytes_;
  bool by_rank_;
  std::vector<std::uint32_t> unopened_;
  core::MergeHeap<Reader, Earlier> open_;
};

Status SampleSpool::merge(const std::function<Status(std::span<const SpooledSample>)>& visit) {
  if (const Status drained = pipeline_->drain(); !drained) {
    return drained;
  }
  Buffer last = std::move(pipeline_->filling());
  pipeline_.reset();
  if (runs_.empty()) {
    return last.visit(visit, by_rank_);
  }
  if (!last.samples.empty()) {
    if (const Status written = write_run(last); !written) {
      return written;
    }
    runs_.push_back(last.run);
  }
  last = {};
  const std::size_t block_bytes = std::clamp(static_cast<std::size_t>(buffer_bytes_) / runs_.size(),
                                             kSmallestReadBlock, kLargestReadBlock);
  RunMerge merge(scratch_, std::move(runs_), block_bytes, by_rank_);
  std::vector<SpooledSample> batch;
  while (true) {
    if (const Status merged = merge.next(batch); !merged || batch.empty()) {
      return merged;
    }
    if (const Status visited = visit(batch); !visited) {
      return visited;
    }
  }
}

}  // namespace stackpack::app
