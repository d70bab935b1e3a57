#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "capture/loss_counters.h"
#include "capture/stack_view.h"
#include "capture/system_recorder.h"
#include "capture/wait_facts.h"
#include "stackpack/branches.h"
#include "stackpack/model.h"
#include "stackpack/result.h"
#include "stackpack/sample_fields.h"

namespace stackpack::capture {

class BranchRecorder;
class FieldRecorder;
class PayloadSink;
class ValueRecorder;

/// A callstack that is announced now and given later (ETW stack keys, deferred perf chains).
enum class PendingStack : std::uint32_t {};

/// Under which number a source knows a callstack again that it gave before, without decoding it.
struct StackMemo {
  static constexpr std::uint32_t kSlots = 1U << 14;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint32_t slot = kNone;  ///< below kSlots, or kNone: the source does not know it again
  bool known = false;          ///< the callstack is the one that was given last with this slot
};

/// Takes everything that a source finds in a capture. Virtual interfaces: docs/architecture.md.
///
/// Order:   calls may come in any time order; a sink that stores samples sorts them (stable by
/// time).
///          An event is added before the first sample that names it. System facts carry their own
///          times and may come before or after the samples which they explain.
/// Errors:  an error from any call ends the conversion; the source passes it on unchanged.
/// Threads: one thread calls.
class CallstackSink {
 public:
  CallstackSink() = default;
  CallstackSink(const CallstackSink&) = delete;
  CallstackSink& operator=(const CallstackSink&) = delete;
  virtual ~CallstackSink() = default;

  /// Adds a row to the event table and returns its index, counted from 0.
  virtual std::uint32_t add_event(const Event& event) = 0;

  /// Gives event `index` another name (names may come after the samples in a stream).
  virtual void rename_event(std::uint32_t index, std::string_view name) = 0;

  /// One sample and its callstack, leaf first.
  ///
  /// origin kRecorded: `stack` has at least one frame. kIpOnly: exactly one. kNone: none.
  /// `stack` is valid during the call only. Where `memo` says that it is known, a sink that
  /// remembers stacks is given no frames; any other sink gets them all and may ignore `memo`.
  virtual Status add_sample(const Sample& sample, const StackView& stack, StackMemo memo) = 0;
  Status add_sample(const Sample& sample, const StackView& stack) {
    return add_sample(sample, stack, {});
  }

  /// A sample as add_sample() takes it.
  struct StackedSample {
    const Sample* sample = nullptr;
    StackView stack;
    StackMemo memo;
    const SchedRecord* sched = nullptr;  ///< in place of a sample: as add_sched() takes it
  };

  /// Several samples, in their order. The same as add_sample() for each; a sink may take less time
  /// for several at once.
  virtual Status add_samples(std::span<const StackedSample> samples) {
    for (const StackedSample& entry : samples) {
      const Status added = entry.sched != nullptr
                               ? add_sched(*entry.sched, entry.stack, entry.memo)
                               : add_sample(*entry.sample, entry.stack, entry.memo);
      if (!added) {
        return added;
      }
    }
    return {};
  }

  /// Whether this sink keeps what was added with each slot of a StackMemo. Always the same answer.
  [[nodiscard]] virtual bool remembers_stacks() const { return false; }

  /// A new pending callstack. Numbers are dense, counted from 0.
  virtual PendingStack open_pending() = 0;

  /// One sample whose recorded callstack will come through resolve_pending; many samples may share
  /// one pending callstack. `fallback` (one frame or none) is what the sample gets, as kIpOnly or
  /// kNone, when the callstack is resolved with an empty stack or never. sample.origin is ignored.
  virtual Status add_pending_sample(const Sample& sample, PendingStack pending,
                                    const StackView& fallback) = 0;

  /// Resolves a pending callstack, once. An empty stack sends its samples to their fallbacks.
  virtual Status resolve_pending(PendingStack pending, const StackView& stack) = 0;

  /// What is known of all records of switches together. Null: this sink keeps none of them, and
  /// a source need not call add_sched(). Always the same answer.
  virtual WaitFacts* wait_facts() { return nullptr; }

  /// One record of a switch or waking with its callstack, which may be empty. `stack` and `memo` as
  /// of add_sample().
  virtual Status add_sched(const SchedRecord& /*record*/, const StackView& /*stack*/,
                           StackMemo /*memo*/) {
    return {};
  }

  /// The same with a callstack that comes through resolve_pending.
  virtual Status add_pending_sched(const SchedRecord& /*record*/, PendingStack /*pending*/) {
    return {};
  }

  /// Processes, threads, modules and metadata of the capture.
  virtual SystemRecorder& system() = 0;

  /// Branches, which are summed up at once; null: this sink keeps none.
  virtual BranchRecorder* branches() { return nullptr; }

  /// Whether whole branch stacks are kept. Always the same answer.
  [[nodiscard]] virtual bool keeps_branch_stacks() const { return false; }

  /// The branch stack of a sample, newest first, not empty: sets the fields of the sample that name
  /// it, or none when there is no room for it, which the sink counts.
  virtual Status add_branch_stack(std::span<const StackedBranch> /*stack*/, FieldRow& /*fields*/) {
    return {};
  }

  /// Values of events; null: this sink keeps none. Always the same answer.
  virtual ValueRecorder* values() { return nullptr; }

  /// Fields of samples besides their callstacks; null: this sink keeps none. Always the same
  /// answer.
  virtual FieldRecorder* sample_fields() { return nullptr; }

  /// Takes payloads of events; null: nobody wants them. Always the same answer.
  virtual PayloadSink* payloads() { return nullptr; }

  /// What was lost, damaged or remarkable, by name.
  virtual LossCounters& losses() = 0;
};

}  // namespace stackpack::capture
