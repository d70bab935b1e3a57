#include "export/lanes/lane_samples.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "core/sort_rows.h"

namespace stackpack::exporting {

namespace {

using SummedBlock = std::span<const query::SummedSample>;

std::uint64_t key_of(std::uint32_t track, std::uint32_t event) {
  return (std::uint64_t{track} << 32) | event;
}

constexpr std::size_t kMostIntervals = 65'536;
constexpr std::uint64_t kDefaultInterval = 1'000'000;  // of a lane with a single sample

}  // namespace

LaneSamples::LaneSamples(query::SampleSelection& selection, query::StackResolver& resolver,
                         std::size_t limit)
    : selection_(selection), resolver_(resolver), limit_(std::max<std::size_t>(limit, 1)) {}

std::uint32_t LaneSamples::lane_of(const query::SummedSample& sample) const {
  return lane_of_key_[keys_.find(key_of(sample.track, sample.event))];
}

query::SummedFields LaneSamples::fields_of_lane() const {
  return {.weight = selection_.choice().any_weighted(), .stack = true, .by_time = true};
}

Status LaneSamples::find_lanes() {
  lanes_.clear();
  keys_.clear();
  const query::SummedFields fields{.weight = false, .stack = false, .by_time = true};
  const Status status = selection_.for_each_summed(fields, [this](SummedBlock block) {
    for (const query::SummedSample& sample : block) {
      const std::uint32_t number = keys_.number(key_of(sample.track, sample.event));
      if (number == lanes_.size()) {
        lanes_.push_back({sample.track, sample.event, 0});
      }
      ++lanes_[number].samples;
    }
    return Status{};
  });
  core::sort_rows(lanes_, [this](const Lane& a, const Lane& b) {
    const auto place = [this](const Lane& lane) {
      const query::Track& track = selection_.tracks()[lane.track];
      return std::tuple(track.pid, track.tid, lane.track, lane.event);
    };
    return place(a) < place(b);
  });
  lane_of_key_.resize(lanes_.size());
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    lane_of_key_[keys_.find(key_of(lanes_[i].track, lanes_[i].event))] = i;
  }
  first_to_show_ = find_first_to_show();  // asked for with each lane that is written
  return status;
}

std::size_t LaneSamples::find_first_to_show() const {
  const auto place = [this](const Lane& lane) {
    return std::tuple(lane.event == selection_.choice().main_event(), lane.samples);
  };
  const auto best =
      std::max_element(lanes_.begin(), lanes_.end(),
                       [&](const Lane& a, const Lane& b) { return place(a) < place(b); });
  return static_cast<std::size_t>(best - lanes_.begin());
}

bool LaneSamples::has_times() const {
  std::uint64_t samples = 0;
  for (const Lane& lane : lanes_) {
    samples += lane.samples;
  }
  const query::TimeRange range = selection_.time_range();
  return selection_.view().has_times() &&
         (range.first_ns != range.last_ns || (samples == 1 && range.first_ns != 0));
}

std::string LaneSamples::title_of(const Lane& lane) const {
  const query::Track& track = selection_.tracks()[lane.track];
  std::string title(selection_.thread_name(track));
  if (track.pid != kUnknownId) {
    title += " pid " + std::to_string(track.pid);
  }
  if (track.tid != kUnknownId) {
    title += " tid " + std::to_string(track.tid);
  }
  return title;
}

Status LaneSamples::resolve() {
  if (const Status status = resolver_.resolve(requests_, nodes_); !status) {
    return status;
  }
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    samples_[i].node = nodes_[i];
  }
  return {};
}

Status LaneSamples::for_each(const std::function<Status(const Lane&, const LaneReplay&)>& visit) {
  for (std::size_t begin = 0; begin < lanes_.size();) {
    std::size_t end = begin;
    std::uint64_t total = 0;
    while (end < lanes_.size() && lanes_[end].samples <= limit_ - total) {
      total += lanes_[end].samples;
      ++end;
    }
    const Status status =
        end == begin ? visit_large(begin, visit) : visit_together(begin, end, visit);
    if (!status) {
      return status;
    }
    begin = std::max(end, begin + 1);
  }
  return {};
}

Status LaneSamples::visit_together(
    std::size_t begin, std::size_t end,
    const std::function<Status(const Lane&, const LaneReplay&)>& visit) {
  std::vector<std::size_t> next{0};  // where the next sample of each lane goes
  for (std::size_t lane = begin; lane < end; ++lane) {
    next.push_back(next.back() + static_cast<std::size_t>(lanes_[lane].samples));
  }
  samples_.assign(next.back(), {});
  requests_.assign(next.back(), {});
  const std::vector<std::size_t> first = next;
  const Status read = selection_.for_each_summed(fields_of_lane(), [&](SummedBlock block) {
    for (const query::SummedSample& sample : block) {
      const std::size_t lane = lane_of(sample);
      if (lane >= begin && lane < end) {
        const std::size_t at = next[lane - begin]++;
        samples_[at] = {sample.time_ns, sample.count, selection_.value_of(sample), 0};
        requests_[at] = {sample.stack, sample.context, query::StackTree::kRoot};
      }
    }
    return Status{};
  });
  if (!read) {
    return read;
  }
  if (const Status status = resolve(); !status) {
    return status;
  }
  for (std::size_t lane = begin; lane < end; ++lane) {
    const auto own = std::span<const LaneSample>(samples_).subspan(
        first[lane - begin], static_cast<std::size_t>(lanes_[lane].samples));
    const Status status = visit(lanes_[lane], [own](const auto& show) {
      std::for_each(own.begin(), own.end(), show);
      return Status{};
    });
    if (!status) {
      return status;
    }
  }
  return {};
}

Status LaneSamples::stream(std::size_t lane, const std::function<void(const LaneSample&)>& visit) {
  samples_.clear();
  requests_.clear();
  const auto flush = [&]() -> Status {
    const Status status = resolve();
    if (status) {
      std::for_each(samples_.begin(), samples_.end(), visit);
    }
    samples_.clear();
    requests_.clear();
    return status;
  };
  const Status read = selection_.for_each_summed(fields_of_lane(), [&](SummedBlock block) {
    for (const query::SummedSample& sample : block) {
      if (lane_of(sample) == lane) {
        samples_.push_back({sample.time_ns, sample.count, selection_.value_of(sample), 0});
        requests_.push_back({sample.stack, sample.context, query::StackTree::kRoot});
      }
    }
    return samples_.size() >= limit_ ? flush() : Status{};
  });
  return read ? flush() : read;
}

Status LaneSamples::visit_large(
    std::size_t lane, const std::function<Status(const Lane&, const LaneReplay&)>& visit) {
  return visit(lanes_[lane], [this, lane](const auto& show) { return stream(lane, show); });
}

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
