#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/convert/branch_stack_spool.h"
#include "app/convert/event_scales.h"
#include "app/convert/interval_sort.h"
#include "app/convert/memory_plan.h"
#include "app/convert/packed_stacks.h"
#include "app/convert/pending_table.h"
#include "app/convert/sample_spool.h"
#include "app/convert/sched_spool.h"
#include "app/convert/stack_interner.h"
#include "capture/branch_recorder.h"
#include "capture/callstack_sink.h"
#include "capture/field_recorder.h"
#include "capture/value_recorder.h"
#include "dag/builder.h"
#include "stackpack/model.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"

namespace stackpack::app {

/// The sink at the end of the capture phase: interns callstacks, spools samples, collects facts.
///
/// When the builder has no room left, its DAG becomes a segment on disk and the builder begins
/// anew; in the end the segments are merged. What comes out is the same as without a limit.
///
/// Use: hand it to a source as its sink, then to an SpkAssembler.
/// Memory: MemoryPlan says who gets how much.
class CaptureSpool final : public capture::CallstackSink {
 public:
  struct Options {
    std::string scratch_directory = ".";
    std::uint64_t memory_limit = 0;                        ///< 0: none but the machine
    std::atomic<std::uint64_t>* sample_counter = nullptr;  ///< for progress; may be null
    std::uint64_t builder_bytes = 0;  ///< for tests: the builder's share; 0: as planned
    bool merges = false;              ///< samples come with add_interned()
    bool waits = false;               ///< records of switches are kept for a WaitPass
    bool values = false;              ///< values of events are kept
    bool fields = false;              ///< fields of samples are kept
    bool branch_stacks = false;       ///< whole branch stacks are kept
    bool orders_branches = false;     ///< and numbered by content, whatever the order of samples
    bool switch_samples = true;       ///< and samples of them as well
    std::uint64_t default_bound = 0;  ///< without memory_limit, what MemoryPlan::of_default() gets
  };

  explicit CaptureSpool(const Options& options);

  std::uint32_t add_event(const Event& event) override;
  void rename_event(std::uint32_t index, std::string_view name) override;
  using capture::CallstackSink::add_sample;
  Status add_sample(const Sample& sample, const capture::StackView& stack,
                    capture::StackMemo memo) override;
  Status add_samples(std::span<const StackedSample> samples) override;
  [[nodiscard]] bool remembers_stacks() const override { return true; }
  capture::PendingStack open_pending() override;
  Status add_pending_sample(const Sample& sample, capture::PendingStack pending,
                            const capture::StackView& fallback) override;
  Status resolve_pending(capture::PendingStack pending, const capture::StackView& stack) override;
  capture::WaitFacts* wait_facts() override { return options_.waits ? &wait_facts_ : nullptr; }
  Status add_sched(const capture::SchedRecord& record, const capture::StackView& stack,
                   capture::StackMemo memo) override;
  Status add_pending_sched(const capture::SchedRecord& record,
                           capture::PendingStack pending) override;
  capture::SystemRecorder& system() override { return system_; }
  capture::BranchRecorder* branches() override { return &branches_; }
  [[nodiscard]] bool keeps_branch_stacks() const override { return branch_stacks_.has_value(); }
  Status add_branch_stack(std::span<const StackedBranch> stack, FieldRow& fields) override {
    return branch_stacks_->add(stack, fields);
  }
  capture::ValueRecorder* values() override { return options_.values ? &values_ : nullptr; }
  capture::FieldRecorder* sample_fields() override { return options_.fields ? &fields_ : nullptr; }
  capture::LossCounters& losses() override { return losses_; }

  /// Those that are kept; null: none are.
  [[nodiscard]] BranchStackSpool* branch_stacks() {
    return branch_stacks_ ? &*branch_stacks_ : nullptr;
  }

  /// Where callstacks end, in their order, into `nodes` (replaced). They are good to the end,
  /// whatever the builder does in between.
  Status intern_stacks(std::span<const dag::Builder::Arrival> stacks, std::vector<NodeRef>& nodes);

  /// In a merge: a sample of the source with that rank, with a callstack that was interned before.
  /// Of equal times those of a lower rank come first. `times`: how many samples it stands for,
  /// which takes the place of the time where there are more.
  Status add_interned(const Sample& sample, const NodeRef& node, std::uint32_t rank,
                      std::uint64_t times);

  /// In a merge: an interval of the source with that rank, with callstacks that were interned
  /// before.
  Status add_interned(const WaitInterval& interval, const NodeRef& node, const NodeRef& waker_node,
                      std::uint32_t rank);
  /// Those, whose callstacks are nodes.
  [[nodiscard]] IntervalSort& interned_intervals() { return intervals_; }

  [[nodiscard]] const MemoryPlan& plan() const { return plan_; }
  [[nodiscard]] const std::string& scratch_directory() const { return options_.scratch_directory; }
  [[nodiscard]] const std::vector<Event>& events() const { return events_; }

  /// Frames of recorded samples whose callstacks came with them.
  [[nodiscard]] std::uint64_t raw_frames() const { return raw_frames_; }

  /// Fills in the builder's figures; before pack_stacks().
  void report_builder(Statistics& statistics) const;

  /// The callstacks of all samples. Once, after the last sample; the builder is gone then.
  Result<std::unique_ptr<PackedStacks>> pack_stacks();

  /// All samples in the order of time, block by block. Once.
  Status for_each_sample(const std::function<Status(std::span<const SpooledSample>)>& visit);

  /// Makes one event of those whose weights differ in their digits behind the point alone. After
  /// the last sample; events() are those of the file from then on.
  void settle_events() { scales_.settle(events_); }
  [[nodiscard]] const EventScales& scales() const { return scales_; }

  /// Records of switches, and what is known of all of them.
  [[nodiscard]] SchedSpool& sched() { return sched_; }
  [[nodiscard]] const capture::WaitFacts& facts_of_waits() const { return wait_facts_; }

  /// Where the callstack ends that a pending sample got; node 0: none came.
  Result<NodeRef> resolved(std::uint32_t pending) { return pending_stacks_.resolved(pending); }

 private:
  Result<NodeRef> intern(const Sample& sample, const capture::StackView& stack);
  Status intern_arrivals();
  Status spool(const Sample& sample, const NodeRef& node, std::uint32_t pending);

  Options options_;
  MemoryPlan plan_;
  StackInterner stacks_;
  std::vector<dag::Builder::Arrival> arrivals_;  // callstacks to intern together
  std::vector<NodeRef> arrived_;                 // where they ended
  SampleSpool spool_;
  SchedSpool sched_;
  IntervalSort intervals_;  // of a merge
  capture::WaitFacts wait_facts_;
  PendingTable pending_stacks_;
  std::vector<NodeRef> remembered_;  // by the slot of a StackMemo
  std::uint64_t known_frames_ = 0;   // of samples whose callstacks the source knew again
  std::uint64_t raw_frames_ = 0;     // of recorded samples with their callstacks
  std::vector<Event> events_;
  EventScales scales_;
  capture::SystemRecorder system_;
  capture::BranchRecorder branches_;
  std::optional<BranchStackSpool> branch_stacks_;
  capture::ValueRecorder values_;
  capture::FieldRecorder fields_;
  capture::LossCounters losses_;
};

}  // namespace stackpack::app
