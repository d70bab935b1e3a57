#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "app/convert/branch_stack_spool.h"
#include "app/merge/frame_rebaser.h"
#include "app/merge/input_processes.h"
#include "app/merge/naming_contexts.h"
#include "app/merge/rebased_sink.h"
#include "app/merge/source_clock.h"
#include "app/merge/source_threads.h"
#include "capture/carried_values.h"
#include "core/number_table.h"
#include "query/field_cursor.h"
#include "stackpack/branches.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Brings the samples of one input into a merge: callstacks with other addresses, events and
/// processes with other numbers, times of another clock.
///
/// A callstack is looked at once per context in which its addresses mean the same.
/// Memory: kMostEntries callstacks with their contexts, some 50 bytes each, one block of samples,
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
    std::vector<std::uint32_t> events;   ///< of the merge, by those of the input
    bool keeps_samples = true;           ///< false: counts, and no intervals
    std::vector<std::uint32_t> reasons;  ///< of waits, of the merge, by those of the input
    const std::atomic<bool>* cancelled = nullptr;
    capture::ValueRecorder* values = nullptr;  ///< for numbers of texts; null: no values
    /// Of the recorder of fields, by those of the input; nothing: left out.
    std::vector<std::optional<std::uint32_t>> control_groups{};
    BranchStackSpool* branch_stacks = nullptr;  ///< null: none is kept
  };
  SampleRebaser(Parts parts, RebasedSink& sink);

  /// Errors: those of the reader and of the sink; kCancelled.
  Status run();

  /// After run(): values of events whose kinds this program does not know.
  [[nodiscard]] std::uint64_t values_left_out() const { return values_left_out_; }

 private:
  static constexpr std::size_t kMostEntries = std::size_t{1} << 20;

  /// A callstack that is new in its context.
  struct Unknown {
    StackId stack = kNoStack;
    std::uint32_t context = 0;
    std::uint32_t entry = 0;
  };

  template <typename Row, typename Enter, typename Take>
  Status add_rows(std::span<const Row> rows, const Enter& enter, const Take& take);
  Status add_block(std::span<const StoredSample> samples);
  Status add_counts(std::span<const StackCount> counts);
  Status add_waits();
  Status add_intervals(std::span<const WaitInterval> rows, const SourceThreads& threads);
  Status add_values();
  Status add_values(std::span<const EventValue> rows, capture::CarriedValues& carried);
  Status add(const StoredSample& sample, std::uint32_t entry,
             const InputProcesses::Process& process, std::uint64_t times,
             const std::optional<FieldRow>& fields);
  /// The entry of a callstack, which resolve() hands over if it is new.
  std::uint32_t entry_of(StackId stack, std::uint32_t pid, std::uint64_t time_ns);
  Status resolve();
  Result<std::optional<FieldRow>> fields_of(const StoredSample& sample, std::uint64_t number);
  Status rebase_branch_stack(const StoredSample& sample, FieldRow& row);
  Status end_generation();

  Parts parts_;
  RebasedSink& sink_;
  NamingContexts contexts_;
  query::FieldCursor fields_;
  std::uint64_t next_sample_ = 0;
  core::NumberTable<std::uint64_t> entries_;  // callstack and context
  std::vector<Unknown> unknown_;
  std::vector<std::uint32_t> block_entries_;  // by wanted row of the block
  std::vector<std::uint32_t> waker_entries_;  // by wanted interval of the block
  std::vector<Frame> rebased_;
  std::vector<StackedBranch> branches_;
  std::uint64_t values_left_out_ = 0;
};

}  // namespace stackpack::app
