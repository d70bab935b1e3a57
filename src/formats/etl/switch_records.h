#pragma once

#include <cstdint>

#include "capture/callstack_sink.h"
#include "formats/etl/event/etl_clock.h"
#include "formats/etl/event/event_header.h"
#include "formats/etl/event/event_kinds.h"
#include "stackpack/result.h"

namespace stackpack::etl {

/// Between these clocks events of a processor were lost.
struct LossGap {
  std::uint64_t from = 0;
  std::uint64_t until = 0;
};

/// Finds what a trace says of switches: CSwitch and ReadyThread events, their callstacks, births
/// of threads and gaps. They go to the sink as records for waits::WaitEngine.
///
/// Layouts: CSwitch (Thread, type 36): u32 new thread, u32 old thread, i8 priorities of both, u8
/// previous C-state, u8 spare, u8 old wait reason, u8 old wait mode, u8 old state, ...; ReadyThread
/// (50): u32 thread, u8 adjust reason, u8 increment, u8 flags (1: from a DPC). Source: Microsoft
/// Learn, CSwitch and ReadyThread classes.
class SwitchRecords {
 public:
  SwitchRecords(capture::CallstackSink& sink, const EtlClock& clock)
      : sink_(sink), facts_(sink.wait_facts()), clock_(clock) {}

  [[nodiscard]] bool active() const { return facts_ != nullptr; }

  /// What the payload says. One that is too short says nothing: the caller counts it.
  Status handover(const EventView& event, std::uint16_t processor);
  Status ready(const EventView& event, std::uint16_t processor);
  Status born(const EventView& event, std::uint32_t tid, std::uint16_t processor);
  Status gap(const LossGap& gap, std::uint16_t processor);

  /// Whether the callstack of an event of this role may be one of a switch. `orphan`: its event was
  /// not found.
  [[nodiscard]] bool wants_stack(EventRole role, bool orphan) const {
    return facts_ != nullptr && (role == EventRole::kContextSwitch ||
                                 role == EventRole::kReadyThread || (orphan && handovers_));
  }
  /// Whether the sample of such an event is wanted, too.
  [[nodiscard]] bool keeps_sample(EventRole role) const {
    return facts_->keeps_samples ||
           (role != EventRole::kContextSwitch && role != EventRole::kReadyThread);
  }

  Status stack(const Sample& sample, const capture::StackView& stack, capture::StackMemo memo);
  Status pending_stack(const Sample& sample, capture::PendingStack pending);

 private:
  capture::SchedRecord record_of(capture::SchedKind kind, std::uint64_t time_ns, std::uint32_t cpu,
                                 std::uint32_t tid);

  capture::CallstackSink& sink_;
  capture::WaitFacts* facts_;
  const EtlClock& clock_;
  bool handovers_ = false;  // there are some
};

}  // namespace stackpack::etl
