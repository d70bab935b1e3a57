#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/convert/branch_stack_spool.h"
#include "app/merge/frame_rebaser.h"
#include "app/merge/input_processes.h"
#include "app/merge/rebased_sink.h"
#include "app/merge/source_set.h"
#include "capture/carried_values.h"
#include "core/number_table.h"
#include "query/field_cursor.h"
#include "stackpack/branches.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/symbols.h"
#include "symbols/symbol_index.h"

namespace stackpack::app {

/// Which process a thread of an input belonged to at a time. Threads of different sources may have
/// one number.
class SourceThreads {
 public:
  /// Errors: those of the reader and of InputProcesses::find.
  static Result<SourceThreads> of(const Reader& reader, InputProcesses& processes);

  /// `rank`: of the source. kUnknownId of a thread that is not known.
  [[nodiscard]] std::uint32_t pid_of(std::uint32_t rank, std::uint32_t tid,
                                     std::uint64_t time_ns) const;

 private:
  struct Life {
    std::uint64_t start_ns = 0;
    std::uint32_t pid = kUnknownId;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Life>> lives_;  // by start
};

/// Numbers the contexts of one input in which addresses mean the same.
class NamingContexts {
 public:
  explicit NamingContexts(const Symbols& symbols)
      : symbols_(symbols),
        kernel_in_processes_(symbols::has_kernel_in_processes(symbols.names())) {}

  /// That of a process at a time. The reference is valid until the next call.
  const FrameRebaser::Context& find(std::uint32_t pid, std::uint64_t time_ns);

  /// The first context that had the number of a user epoch.
  [[nodiscard]] const FrameRebaser::Context& of_user(std::uint32_t user) const {
    return contexts_[user];
  }

  /// Begins anew: numbers are used again.
  void forget();

 private:
  struct Latest {
    FrameRebaser::Context context;
    std::uint64_t from_ns = 0;
    std::uint64_t until_ns = 0;  // first time of the next one
  };
  struct Key {
    std::uint32_t pid = kUnknownId;
    std::uint64_t user_epoch = 0;
    std::uint64_t kernel_epoch = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct HashKey {
    std::uint64_t operator()(const Key& key) const {
      return core::spread_bits(core::spread_bits(key.user_epoch ^ (std::uint64_t{key.pid} << 32)) ^
                               key.kernel_epoch);
    }
  };

  const Symbols& symbols_;
  bool kernel_in_processes_;  // so that names of its addresses are not the same in all of them
  std::unordered_map<std::uint32_t, Latest> latest_;  // by pid
  const Latest* last_ = nullptr;                      // that of the last call
  core::NumberTable<Key, HashKey> numbers_;
  std::vector<FrameRebaser::Context> contexts_;  // by number
};

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
    std::vector<std::uint64_t> label_sets{};    ///< of the recorder, by those of the input
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
  Status add_samples();
  Status add_all_counts();
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
