#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/convert/packed_stacks.h"
#include "io/spill_file.h"
#include "scratch/spill_pages.h"
#include "stackpack/model.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"

namespace stackpack::app {

/// Counts samples and callstacks for the summary of a file.
///
/// Memory: a bit per callstack and per distinct leaf frame, each up to a budget and in a scratch
///         file beyond.
class StackTally {
 public:
  /// `raw_frames`: frames of recorded samples that were counted before.
  StackTally(std::size_t event_count, std::uint64_t raw_frames,
             const std::string& scratch_directory, std::uint64_t budget_bytes)
      : raw_frames_(raw_frames),
        samples_of_event_(event_count),
        recorded_(scratch_directory, budget_bytes),
        leaves_(scratch_directory, budget_bytes) {}

  /// `depth`: frames of the sample's callstack, if it was recorded and they were not counted
  /// before. Errors: kIo.
  Status add(const StoredSample& sample, std::uint32_t depth);
  /// A count of samples, of which flags are not known.
  Status add(const StackCount& count);

  /// Fills in the parts about samples, callstacks and events (their counts, not their names).
  /// Errors: kIo.
  Status report(const PackedStacks& stacks, Statistics& statistics);

 private:
  /// A set of numbers: a bit each.
  class BitSet {
   public:
    BitSet(std::string scratch_directory, std::uint64_t budget_bytes)
        : file_(std::move(scratch_directory)), pages_(file_, budget_bytes) {}

    Result<bool> contains(std::uint64_t number);
    /// Whether the number is new.
    Result<bool> insert(std::uint64_t number);

   private:
    io::SpillFile file_;
    scratch::SpillPages pages_;
  };

  Status count_stacks(const PackedStacks& stacks, Statistics& statistics);

  std::uint64_t raw_frames_;
  std::uint64_t total_ = 0;
  std::uint64_t by_origin_[kStackOriginCount] = {};
  std::uint64_t same_record_ = 0;
  std::uint64_t empty_chains_ = 0;
  std::uint64_t stack_dump_only_ = 0;
  std::vector<std::uint64_t> samples_of_event_;
  BitSet recorded_;  // callstacks
  BitSet leaves_;    // frames at their leaves
};

}  // namespace stackpack::app
