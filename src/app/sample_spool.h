#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/spool_codec.h"
#include "io/spill_file.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Sorts samples by time in bounded memory: an external merge sort.
///
/// Samples collect in a buffer; a full buffer is sorted and goes to a nameless scratch file as a
/// run. The merge opens a run when its first time comes up, so captures that are nearly in order
/// (all of them, in practice: rings, parts, backward buffers) hold a few runs at a time. The sort
/// is stable: equal times keep their order of arrival, so the buffer's size does not show in the
/// result. Nothing is spilled when all samples fit the buffer.
///
/// Memory: `buffer_bytes` while collecting; while merging, one read block per open run, together
/// at most about `buffer_bytes` (the blocks shrink when many runs overlap, down to 4 KiB each).
class SampleSpool {
 public:
  SampleSpool(std::string scratch_directory, std::uint64_t buffer_bytes);

  Status add(const SpooledSample& sample);

  /// All samples in time order, in batches; call once, after the last add.
  Status merge(const std::function<Status(std::span<const SpooledSample>)>& visit);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t spilled_bytes() const { return scratch_.size(); }

 private:
  struct Run {
    std::uint64_t first_time_ns = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
  };
  class RunReader;
  class RunMerge;

  /// The buffer's samples in time order, in batches.
  Status visit_buffer(const std::function<Status(std::span<const SpooledSample>)>& visit);
  Status spill_buffer();

  io::SpillFile scratch_;
  std::size_t capacity_;
  std::uint64_t buffer_bytes_;
  std::vector<SpooledSample> buffer_;
  bool in_order_ = true;
  std::vector<Run> runs_;
  std::uint64_t count_ = 0;
};

}  // namespace stackpack::app
