#include "query/selection/idle_pools.h"

#include "core/saturating.h"

namespace stackpack::query {

namespace {

constexpr std::uint64_t kIdleParts = 100;
constexpr std::string_view kIdleWorker = "I";

}  // namespace

void IdlePools::add(const WaitInterval& row) {
  if (row.pid != pid_ || row.tid != tid_) {
    end_thread();
    pid_ = row.pid;
    tid_ = row.tid;
  }
  const std::uint64_t length = row.to_ns - row.from_ns;
  if (row.state == WaitState::kBlocked) {
    core::add_saturating(blocked_ns_, length);
    ends_a_wait_ = ends_a_wait_ || (row.flags & (kWaitOpenEnd | kWaitCut)) == 0;
    is_idle_worker_ =
        is_idle_worker_ || (row.reason < reasons_.size() && reasons_[row.reason] == kIdleWorker);
  } else if (row.state != WaitState::kUnknown && row.state != WaitState::kExited) {
    core::add_saturating(able_ns_, length);
    is_seen_able_ = true;
  }
}

void IdlePools::end_thread() {
  const std::uint64_t known = core::saturating_sum(able_ns_, blocked_ns_);
  const bool ran_unseen = ends_a_wait_ && !is_seen_able_;  // nobody knows for how long
  if (is_idle_worker_ || (blocked_ns_ != 0 && able_ns_ < known / kIdleParts && !ran_unseen)) {
    threads_.emplace(pid_, tid_);
  }
  able_ns_ = 0;
  blocked_ns_ = 0;
  is_idle_worker_ = false;
  ends_a_wait_ = false;
  is_seen_able_ = false;
}

Result<IdlePools> IdlePools::find(const Reader& reader) {
  Result<std::vector<std::string>> reasons = reader.wait_reasons();
  if (!reasons) {
    return reasons.error();
  }
  IdlePools pools(std::move(*reasons));
  const Status read = reader.intervals({}, [&pools](std::span<const WaitInterval> rows) {
    for (const WaitInterval& row : rows) {
      pools.add(row);
    }
    return true;
  });
  pools.end_thread();
  return read ? Result<IdlePools>(std::move(pools)) : Result<IdlePools>(read.error());
}

}  // namespace stackpack::query
