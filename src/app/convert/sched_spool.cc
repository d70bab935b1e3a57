#include "app/convert/sched_spool.h"

#include <algorithm>
#include <utility>

namespace stackpack::app {

using capture::SchedKind;

namespace {

// Whether a record of this kind bounds what is known: a fork may come seconds before the switches
// of its thread.
bool bounds(SchedKind kind) {
  return kind != SchedKind::kFork && kind != SchedKind::kExit && kind != SchedKind::kSeen &&
         kind != SchedKind::kGap && kind != SchedKind::kStackOf && kind != SchedKind::kBorn;
}

// Whether a record of this kind is of a thread that is recorded; others are named as next or woken.
bool is_own(SchedKind kind) {
  return kind == SchedKind::kSwitch || kind == SchedKind::kSwitchOut ||
         kind == SchedKind::kSwitchIn || kind == SchedKind::kOutStack || kind == SchedKind::kFork ||
         kind == SchedKind::kExit || kind == SchedKind::kSeen || kind == SchedKind::kWaitBegin;
}

}  // namespace

SchedSpool::SchedSpool(std::string scratch_directory)
    : rows_(std::move(scratch_directory), kRows) {}

Status SchedSpool::add(const capture::SchedRecord& record, const NodeRef& node,
                       std::uint32_t pending) {
  SchedRow row;
  static_cast<capture::SchedRecord&>(row) = record;
  row.node = node.node;
  row.segment = node.segment;
  row.pending = pending;
  ++counts_[static_cast<std::size_t>(record.kind)];
  if (is_own(record.kind) && own_threads_.size() < waits::ThreadTable::kMostThreads) {
    own_threads_.number(record.tid);
  }
  if (bounds(record.kind)) {
    start_ns_ = std::min(start_ns_, record.time_ns);
    end_ns_ = std::max(end_ns_, record.time_ns);
  }
  return rows_.add(row);
}

bool SchedSpool::has_waits() const {
  return count(SchedKind::kSwitch) + count(SchedKind::kSwitchOut) + count(SchedKind::kSwitchIn) +
             count(SchedKind::kHandover) + count(SchedKind::kWaitBegin) !=
         0;
}

waits::WaitPlan SchedSpool::plan(bool system_wide) const {
  waits::WaitPlan plan;
  plan.system_wide = system_wide;
  plan.own_threads = system_wide ? nullptr : &own_threads_;
  plan.has_switches = count(SchedKind::kSwitch) != 0;
  plan.has_records = count(SchedKind::kSwitchOut) + count(SchedKind::kSwitchIn) != 0;
  plan.has_wakings = count(SchedKind::kWaking) != 0;
  plan.has_births = count(SchedKind::kNewThread) != 0;
  plan.has_handovers = count(SchedKind::kHandover) != 0;
  plan.start_ns = start_ns_;
  plan.end_ns = end_ns_;
  return plan;
}

}  // namespace stackpack::app
