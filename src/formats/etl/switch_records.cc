#include "formats/etl/switch_records.h"

#include <array>
#include <string>
#include <string_view>

#include "bytes/byte_cursor.h"

namespace stackpack::etl {

using capture::SchedKind;
using capture::SchedRecord;

namespace {

// KWAIT_REASON.
constexpr std::array<std::string_view, 40> kReasons = {
    "Executive",        "FreePage",          "PageIn",
    "PoolAllocation",   "DelayExecution",    "Suspended",
    "UserRequest",      "WrExecutive",       "WrFreePage",
    "WrPageIn",         "WrPoolAllocation",  "WrDelayExecution",
    "WrSuspended",      "WrUserRequest",     "WrEventPair",
    "WrQueue",          "WrLpcReceive",      "WrLpcReply",
    "WrVirtualMemory",  "WrPageOut",         "WrRendezvous",
    "WrKeyedEvent",     "WrTerminated",      "WrProcessInSwap",
    "WrCpuRateControl", "WrCalloutStack",    "WrKernel",
    "WrResource",       "WrPushLock",        "WrMutex",
    "WrQuantumEnd",     "WrDispatchInt",     "WrPreempted",
    "WrYieldExecution", "WrFastMutex",       "WrGuardedMutex",
    "WrRundown",        "WrAlertByThreadId", "WrDeferredPreempt",
    "WrPhysicalFault"};

std::string reason_name(std::uint8_t reason) {
  return reason < kReasons.size() ? std::string(kReasons[reason])
                                  : "reason" + std::to_string(unsigned{reason});
}

// KTHREAD_STATE: what a thread that left its processor is.
std::uint8_t flags_of_state(std::uint8_t state) {
  switch (state) {
    case 4:  // terminated
      return capture::kSchedExit;
    case 5:  // waiting
    case 6:  // transition: its kernel stack is paged out
    case 8:  // gate wait
    case 9:  // waiting for its process to be swapped in
      return 0;
    case 1:  // ready
    case 2:  // running
    case 3:  // standby
    case 7:  // deferred ready
      return capture::kSchedRunnable;
    default:
      return capture::kSchedOdd;
  }
}

constexpr std::uint64_t kAfterStacks = std::uint64_t{1} << 62;
constexpr std::uint64_t kAfterAll = std::uint64_t{1} << 63;

}  // namespace

SchedRecord SwitchRecords::record_of(SchedKind kind, std::uint64_t time_ns, std::uint32_t cpu,
                                     std::uint32_t tid) {
  SchedRecord record;
  record.kind = kind;
  record.time_ns = time_ns;
  record.cpu = cpu;
  record.tid = tid;
  // The callstack of an event comes after it, and is needed with it.
  record.order = facts_->next_order() | (kind == SchedKind::kStackOf ? 0
                                         : kind == SchedKind::kGap   ? kAfterAll
                                                                     : kAfterStacks);
  return record;
}

Status SwitchRecords::handover(const EventView& event, std::uint16_t processor) {
  bytes::ByteCursor in(event.payload, event.position);
  const auto next = in.read<std::uint32_t>();
  const auto previous = in.read<std::uint32_t>();
  in.skip(4);  // priorities, C-state, spare
  const auto reason = in.read<std::uint8_t>();
  const auto mode = in.read<std::uint8_t>();
  const auto state = in.read<std::uint8_t>();
  if (!in.ok() || event.payload.size() < 16) {
    return {};
  }
  handovers_ = true;
  SchedRecord record =
      record_of(SchedKind::kHandover, clock_.unix_ns(event.clock), processor, previous);
  record.other = next;
  record.flags = flags_of_state(state);
  std::string text = reason_name(reason);
  if (record.flags == 0) {
    text += (mode & 1) != 0 ? "/u" : "/k";
  }
  record.reason = facts_->reason(text);
  return sink_.add_sched(record, {}, {});
}

Status SwitchRecords::ready(const EventView& event, std::uint16_t processor) {
  constexpr std::uint8_t kFromDpc = 1;
  bytes::ByteCursor in(event.payload, event.position);
  const auto tid = in.read<std::uint32_t>();
  in.skip(2);  // adjust reason, increment
  const auto flags = in.read<std::uint8_t>();
  in.skip(1);
  if (!in.ok()) {
    return {};
  }
  SchedRecord record = record_of(SchedKind::kReady, clock_.unix_ns(event.clock), processor, tid);
  record.other = event.tid;
  record.flags = (flags & kFromDpc) != 0 ? capture::kSchedDeferred : 0;
  return sink_.add_sched(record, {}, {});
}

Status SwitchRecords::born(const EventView& event, std::uint32_t tid, std::uint16_t processor) {
  return sink_.add_sched(record_of(SchedKind::kBorn, clock_.unix_ns(event.clock), processor, tid),
                         {}, {});
}

Status SwitchRecords::gap(const LossGap& gap, std::uint16_t processor) {
  SchedRecord record = record_of(SchedKind::kGap, clock_.unix_ns(gap.from), processor, 0);
  record.until_ns = clock_.unix_ns(gap.until);
  return sink_.add_sched(record, {}, {});
}

Status SwitchRecords::stack(const Sample& sample, const capture::StackView& stack,
                            capture::StackMemo memo) {
  return sink_.add_sched(record_of(SchedKind::kStackOf, sample.time_ns, sample.cpu, sample.tid),
                         stack, memo);
}

Status SwitchRecords::pending_stack(const Sample& sample, capture::PendingStack pending) {
  return sink_.add_pending_sched(
      record_of(SchedKind::kStackOf, sample.time_ns, sample.cpu, sample.tid), pending);
}

}  // namespace stackpack::etl
