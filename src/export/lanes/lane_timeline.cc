#include "export/lanes/lane_timeline.h"

#include <algorithm>
#include <vector>

namespace stackpack::exporting {

namespace {

constexpr std::size_t kMostIntervals = 65'536;
constexpr std::uint64_t kDefaultInterval = 1'000'000;  // of a lane with a single sample

}  // namespace

Result<LaneTimeline> LaneTimeline::create(const LaneReplay& replay) {
  LaneTimeline timeline;
  std::vector<std::uint64_t> intervals;
  bool any = false;
  const Status status = replay([&](const LaneSample& sample) {
    if (!any) {
      timeline.first_ns_ = sample.time_ns;
    } else if (sample.time_ns > timeline.last_ns_ && intervals.size() < kMostIntervals) {
      intervals.push_back(sample.time_ns - timeline.last_ns_);
    }
    timeline.last_ns_ = sample.time_ns;
    any = true;
  });
  if (!status) {
    return status.error();
  }
  timeline.interval_ns_ = kDefaultInterval;
  if (!intervals.empty()) {
    const auto middle = intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2);
    std::nth_element(intervals.begin(), middle, intervals.end());
    timeline.interval_ns_ = *middle;
  }
  return timeline;
}

Status LaneTimeline::for_each(const LaneReplay& replay,
                              const std::function<void(const Part&)>& visit) const {
  std::optional<LaneSample> open;
  const auto close = [&](std::uint64_t duration_ns) {
    // Compared by halves: a hostile interval may be too large to double.
    const std::uint64_t drawn = duration_ns / 2 <= interval_ns_ ? duration_ns : 2 * interval_ns_;
    visit({&*open, drawn});
    if (drawn < duration_ns) {
      visit({nullptr, duration_ns - drawn});
    }
  };
  const Status status = replay([&](const LaneSample& sample) {
    if (open) {
      close(sample.time_ns - open->time_ns);
    }
    open = sample;
  });
  if (status && open) {
    close(interval_ns_);
  }
  return status;
}

}  // namespace stackpack::exporting
