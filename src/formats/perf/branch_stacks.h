// The BRANCH_STACK field of samples: {u64 from, to, flags} for each taken branch, newest first.
// Flags, from the lowest bit on: mispredicted, predicted, in transaction, abort, 16 of cycles, 4 of
// type, 2 of speculation (1: wrong path), 4 of a type's second list, 3 of privilege. They are C
// bit-fields: a big-endian writer has field p..p+n-1 at 64-p-n.
// Source: linux/perf_event.h, struct perf_branch_entry.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bytes/byte_cursor.h"
#include "capture/branch_recorder.h"
#include "capture/callstack_sink.h"
#include "formats/perf/sample.h"
#include "stackpack/branches.h"
#include "stackpack/result.h"
#include "stackpack/sample_fields.h"

namespace stackpack::perf {

/// Flags as a little-endian machine has them, whatever the order of the writer.
std::uint64_t little_endian_flags(std::uint64_t flags, bytes::ByteOrder order);

/// Hands the branch stacks of samples to a sink, which sums them up, and may keep them.
class BranchStacks {
 public:
  /// `sink` must outlive this.
  explicit BranchStacks(capture::CallstackSink& sink)
      : sink_(sink), recorder_(sink.branches()), keeps_(sink.keeps_branch_stacks()) {}

  /// Open calls (branch_bit::kCallStack) are no history, and are passed over.
  /// Errors: those of the recorder.
  /// `offset`: of the record in the capture.
  Status add(const SampleLayout& layout, std::uint32_t event, std::uint64_t offset,
             const SampleFields& fields);

  /// The fields of the sample that was added last which name its branch stack; given once.
  FieldRow take_kept() { return std::exchange(kept_, FieldRow()); }

 private:
  capture::CallstackSink& sink_;
  capture::BranchRecorder* recorder_;
  bool keeps_;
  FieldRow kept_;
  std::vector<StackedBranch> branches_;
};

}  // namespace stackpack::perf
