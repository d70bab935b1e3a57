#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "capture/callstack_sink.h"
#include "core/ordered_pipeline.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Puts a thread between a source and a sink: the source parses on its thread, the sink interns on
/// another, and batches of samples go from one to the other in order.
///
/// Nothing is locked for a sample; the lock is taken once a batch. The order of calls that the sink
/// sees is the order of the source's calls, so the result is the same as without the queue.
/// Facts and loss counters go straight to the sink's recorders: only the source's thread uses them
/// until finish().
/// Memory: kBatches batches of about kBatchBytes, until finish().
/// Errors: an error of the sink, memory that ran out among them, comes back from one of the next
///         calls, or from finish(). Nothing is delivered after it.
class SinkQueue final : public capture::CallstackSink {
 public:
  static constexpr std::size_t kBatches = 4;
  static constexpr std::size_t kBatchBytes = std::size_t{1} << 20;
  /// Samples that the sink is given at once, at most.
  static constexpr std::size_t kTogether = 256;

  /// `sink` must outlive the queue and is used by the queue's thread until finish() returns.
  explicit SinkQueue(capture::CallstackSink& sink);
  ~SinkQueue() override;

  std::uint32_t add_event(const Event& event) override;
  void rename_event(std::uint32_t index, std::string_view name) override;
  using capture::CallstackSink::add_sample;
  Status add_sample(const Sample& sample, const capture::StackView& stack,
                    capture::StackMemo memo) override;
  [[nodiscard]] bool remembers_stacks() const override { return sink_.remembers_stacks(); }
  capture::PendingStack open_pending() override;
  Status add_pending_sample(const Sample& sample, capture::PendingStack pending,
                            const capture::StackView& fallback) override;
  Status resolve_pending(capture::PendingStack pending, const capture::StackView& stack) override;
  capture::WaitFacts* wait_facts() override { return sink_.wait_facts(); }
  Status add_sched(const capture::SchedRecord& record, const capture::StackView& stack,
                   capture::StackMemo memo) override;
  Status add_pending_sched(const capture::SchedRecord& record,
                           capture::PendingStack pending) override;
  capture::SystemRecorder& system() override { return sink_.system(); }
  capture::BranchRecorder* branches() override { return sink_.branches(); }
  [[nodiscard]] bool keeps_branch_stacks() const override { return sink_.keeps_branch_stacks(); }
  // Not through the queue: the sink keeps them apart from its samples.
  Status add_branch_stack(std::span<const StackedBranch> stack, FieldRow& fields) override {
    return sink_.add_branch_stack(stack, fields);
  }
  capture::ValueRecorder* values() override { return sink_.values(); }
  capture::FieldRecorder* sample_fields() override { return sink_.sample_fields(); }
  capture::LossCounters& losses() override { return sink_.losses(); }

  /// Waits until the sink has everything; no call may follow. Result: the sink's first error.
  Status finish();

  /// How often the source waited because all batches were full, and the sink because none was
  /// ready: for --timings, after finish().
  [[nodiscard]] core::TaskLine::Waits waits() const { return pipeline_.waits(); }

 private:
  enum class Kind : std::uint8_t {
    kSample,
    kKnownSample,
    kPendingSample,
    kOpenPending,
    kResolve,
    kEvent,
    kRename,
    kSched,
    kKnownSched,
    kPendingSched
  };

  struct Entry {
    Kind kind = Kind::kSample;
    std::uint32_t number = 0;  // of the pending callstack or slot, or index of the event
    std::uint32_t addresses = 0;
    std::uint32_t runs = 0;
  };

  struct Batch {
    std::vector<Entry> entries;
    std::vector<Sample> samples;  // of those entries that have one
    std::vector<std::uint64_t> addresses;
    std::vector<capture::ModeRun> runs;
    std::vector<Event> events;
    std::vector<capture::SchedRecord> sched;

    [[nodiscard]] std::size_t bytes() const;
    void clear();
  };

  Status push_sample(Kind kind, const Sample& sample, std::uint32_t number,
                     const capture::StackView& stack);
  Status push(Kind kind, std::uint32_t number, const capture::StackView& stack);
  void add_event_entry(Kind kind, std::uint32_t number, Event event);
  Batch& filling() { return pipeline_.filling(); }
  // What of a batch comes next.
  struct NextOf {
    std::size_t event = 0;
    std::size_t sched = 0;
    std::size_t sample = 0;
  };
  Status deliver(const Batch& batch);
  bool take_together(const Batch& batch, const Entry& entry, const capture::StackView& stack,
                     NextOf& next);
  Status deliver_alone(const Batch& batch, const Entry& entry, const capture::StackView& stack,
                       NextOf& next);
  Status deliver_samples();

  capture::CallstackSink& sink_;
  std::uint32_t event_count_ = 0;
  std::uint32_t promise_count_ = 0;
  bool finished_ = false;
  /// The queue's thread alone: samples of the present batch that are to be delivered together.
  std::vector<capture::CallstackSink::StackedSample> together_;
  core::OrderedPipeline<Batch> pipeline_;  // last: its thread uses everything above
};

}  // namespace stackpack::app
