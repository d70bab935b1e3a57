#include "app/convert/sched_spool.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace stackpack::app {

using capture::SchedKind;

namespace {

bool comes_before(const SchedRow& a, const SchedRow& b) {
  return std::tie(a.time_ns, a.order) < std::tie(b.time_ns, b.order);
}

// Whether a record of this kind bounds what is known: a fork may come seconds before the switches
// of its thread.
bool bounds(SchedKind kind) {
  return kind != SchedKind::kFork && kind != SchedKind::kSeen && kind != SchedKind::kGap &&
         kind != SchedKind::kStackOf && kind != SchedKind::kBorn;
}

}  // namespace

SchedSpool::SchedSpool(std::string scratch_directory)
    : runs_(std::move(scratch_directory), kMergeBytes) {}

void SchedSpool::sort_rows() {
  std::stable_sort(rows_.begin(), rows_.end(), comes_before);
}

Status SchedSpool::add(const capture::SchedRecord& record, const NodeRef& node,
                       std::uint32_t pending) {
  SchedRow& row = rows_.emplace_back();
  static_cast<capture::SchedRecord&>(row) = record;
  row.node = node.node;
  row.segment = node.segment;
  row.pending = pending;
  ++counts_[static_cast<std::size_t>(record.kind)];
  if (bounds(record.kind)) {
    start_ns_ = std::min(start_ns_, record.time_ns);
    end_ns_ = std::max(end_ns_, record.time_ns);
  }
  if (rows_.size() < kRows) {
    return {};
  }
  sort_rows();
  const Status added = runs_.add(rows_);
  rows_.clear();
  return added;
}

bool SchedSpool::has_waits() const {
  return count(SchedKind::kSwitch) + count(SchedKind::kSwitchOut) + count(SchedKind::kSwitchIn) +
             count(SchedKind::kHandover) !=
         0;
}

waits::WaitPlan SchedSpool::plan() const {
  waits::WaitPlan plan;
  plan.has_switches = count(SchedKind::kSwitch) != 0;
  plan.has_records = count(SchedKind::kSwitchOut) + count(SchedKind::kSwitchIn) != 0;
  plan.has_wakings = count(SchedKind::kWaking) != 0;
  plan.has_births = count(SchedKind::kNewThread) != 0;
  plan.has_handovers = count(SchedKind::kHandover) != 0;
  plan.start_ns = start_ns_;
  plan.end_ns = end_ns_;
  return plan;
}

Status SchedSpool::visit(const std::function<Status(const SchedRow&)>& visit) {
  sort_rows();
  if (runs_.empty()) {
    for (const SchedRow& row : rows_) {
      if (const Status visited = visit(row); !visited) {
        return visited;
      }
    }
    return {};
  }
  if (!rows_.empty()) {
    if (const Status added = runs_.add(rows_); !added) {
      return added;
    }
    rows_.clear();
  }
  return runs_.merge(
      comes_before, [](SchedRow& /*sum*/, const SchedRow& /*row*/) {}, visit);
}

}  // namespace stackpack::app
