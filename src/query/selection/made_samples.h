// Samples that a view has in place of those of its file: made of intervals, or weighed anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "query/selection/capture_view.h"
#include "scratch/external_sort.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::query {

using SampleVisit = std::function<bool(std::span<const StoredSample>)>;
using SampleSource = std::function<Status(const SampleQuery&, const SampleVisit&)>;

/// How many samples at a time are handed on by those who make them one by one.
inline constexpr std::size_t kSamplesAtOnce = 4096;

/// Samples in order of time; of one time, in the order in which they came. Memory: 20 MiB, the rest
/// in a scratch file.
class SamplesByTime {
 public:
  SamplesByTime();

  /// Errors: kIo.
  Status add(const StoredSample& sample) { return rows_.add({sample, number_++}); }
  /// The next one, until the next call; null at the end. Errors: kIo.
  Result<const StoredSample*> next();

 private:
  struct Row {
    StoredSample sample;
    std::uint64_t number = 0;
  };
  struct ByTime {
    static std::uint64_t key(const Row& row) { return row.sample.time_ns; }
    static bool before(const Row& a, const Row& b);
  };
  static constexpr std::size_t kRows = std::size_t{1} << 18;  // of 72 bytes

  std::uint64_t number_ = 0;
  scratch::ExternalSort<Row, ByTime> rows_;
};

/// Makes `samples` all that a view has: rows and columns. Fields of samples are those of the file's
/// and go.
void read_samples_from(SampleSource samples, CaptureView& view);

}  // namespace stackpack::query
