#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/convert/spool_codec.h"
#include "core/ordered_pipeline.h"
#include "io/spill_file.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Sorts samples by time in bounded memory: an external merge sort.
///
/// Samples collect in a buffer; a full buffer is sorted and goes to a nameless scratch file as a
/// run, on a thread of its own while the next buffer fills. The merge opens a run when its first
/// time comes up, so captures that are nearly in order (all of them, in practice: rings, parts,
/// backward buffers) hold a few runs at a time. The sort is stable: equal times keep their order of
/// arrival, so the buffer's size does not show in the result. Nothing is spilled when all samples
/// fit the buffer.
///
/// Memory: `buffer_bytes` while collecting, in two buffers, and half as much for sorting; while
/// merging, one read block per open run, together at most about `buffer_bytes` (the blocks shrink
/// when many runs overlap, down to 4 KiB each).
class SampleSpool {
 public:
  /// `by_rank`: samples of equal times come by SpooledSample::pending, which is a rank then.
  SampleSpool(std::string scratch_directory, std::uint64_t buffer_bytes, bool by_rank = false);

  /// A sample whose callstack is `node` of a segment, or will be; see SpooledSample.
  Status add(const Sample& sample, std::uint16_t segment, std::uint32_t node,
             std::uint32_t pending);

  /// All samples in time order, in batches; call once, after the last add.
  Status merge(const std::function<Status(std::span<const SpooledSample>)>& visit);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// Bytes of scratch; after merge(), as a thread may be writing before.
  [[nodiscard]] std::uint64_t spilled_bytes() const { return scratch_.size(); }

 private:
  struct Run {
    std::uint64_t first_time_ns = 0;
    std::uint32_t first_rank = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
  };
  class RunReader;
  class RunMerge;

  struct Buffer {
    std::vector<SpooledSample> samples;
    bool in_order = true;
    Run run;  ///< what became of it

    /// The samples in time order, in batches.
    Status visit(const std::function<Status(std::span<const SpooledSample>)>& visit,
                 bool by_rank) const;
  };

  Status write_run(Buffer& buffer);

  io::SpillFile scratch_;  // its contents: the thread's while runs are under way
  std::size_t capacity_;
  std::uint64_t buffer_bytes_;
  bool by_rank_;
  std::vector<Run> runs_;
  std::uint64_t count_ = 0;
  std::vector<std::byte> block_;  // of a run, on its way to disk
  // Until merge(); last: its thread uses the others.
  std::optional<core::OrderedPipeline<Buffer>> pipeline_;
};

}  // namespace stackpack::app
