#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "app/convert/capture_spool.h"
#include "app/merge/entry_counts.h"
#include "app/merge/frame_rebaser.h"
#include "app/merge/input_processes.h"
#include "app/merge/naming_contexts.h"
#include "app/merge/source_clock.h"
#include "core/number_table.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Brings the samples of one input into a merge: callstacks with other addresses, events and
/// processes with other numbers, times of another clock.
///
/// A callstack is looked at once per context in which its addresses mean the same.
/// Memory: kMostEntries callstacks with their contexts, some 60 bytes each, one block of samples,
/// and the frames of FrameRebaser.
class SampleRebaser {
 public:
  /// All must outlive this.
  struct Parts {
    const Reader& reader;
    const Symbols& symbols;
    FrameRebaser& frames;
    InputProcesses& processes;
    SourceClock clock;
    std::vector<std::uint32_t> events;  ///< of the merge, by those of the input
    bool keeps_samples = true;          ///< false: counts
    const std::atomic<bool>* cancelled = nullptr;
  };
  SampleRebaser(Parts parts, CaptureSpool& spool);

  /// Errors: those of the reader and of the spool; kCancelled.
  Status run();

 private:
  static constexpr std::size_t kMostEntries = std::size_t{1} << 20;

  /// A callstack that is new in its context.
  struct Unknown {
    StackId stack = kNoStack;
    std::uint32_t context = 0;
    std::uint32_t entry = 0;
  };

  Status add_block(std::span<const StoredSample> samples);
  Status add_counts(std::span<const StackCount> counts);
  Status add(const StoredSample& sample, std::uint32_t entry,
             const InputProcesses::Process& process, std::uint64_t times);
  /// The entry of a callstack; NodeRef of it follows with resolve().
  std::uint32_t entry_of(StackId stack, std::uint32_t pid, std::uint64_t time_ns);
  Status resolve();
  Status intern(std::size_t stacks);
  Status end_generation();

  Parts parts_;
  CaptureSpool& spool_;
  EntryCounts counts_;
  NamingContexts contexts_;
  core::NumberTable<std::uint64_t> entries_;  // callstack and context
  std::vector<NodeRef> nodes_;                // by entry
  std::vector<Unknown> unknown_;
  std::vector<std::uint32_t> block_entries_;  // by sample of the block
  // Callstacks to intern together.
  std::vector<std::uint32_t> batch_entries_;
  std::vector<std::uint64_t> addresses_;
  std::vector<capture::ModeRun> runs_;
  struct Extent {
    std::size_t addresses = 0;  // ends
    std::size_t runs = 0;
  };
  std::vector<Extent> extents_;
  std::vector<dag::Builder::Arrival> arrivals_;
  std::vector<NodeRef> interned_;
  std::vector<Frame> rebased_;
};

}  // namespace stackpack::app
