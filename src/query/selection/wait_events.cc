#include "query/selection/wait_events.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "query/selection/idle_pools.h"
#include "query/selection/latency_samples.h"
#include "query/selection/made_samples.h"
#include "query/selection/thread_time.h"
#include "query/selection/wait_samples.h"
#include "query/selection/wait_stacks.h"

namespace stackpack::query {

namespace {

constexpr std::array<std::pair<WaitState, std::string_view>, 3> kWaitEvents = {
    {{WaitState::kBlocked, "blocked"},
     {WaitState::kWoken, "woken"},
     {WaitState::kPreempted, "preempted"}}};

constexpr std::string_view kWallEvent = "wall-time";

bool chooses_threads(const SampleFilter& filter) {
  return filter.pid || filter.tid || !filter.comms.empty();
}

// Samples of the file, where they are wanted, and those of waits.
class JointSamples {
 public:
  JointSamples(const Reader& reader, WaitSamples waits, bool has_file)
      : reader_(reader), waits_(std::move(waits)), has_file_(has_file) {}

  Status samples(const SampleQuery& query, const SampleVisit& visit) const {
    return query.any_order ? in_any_order(query, visit) : by_time(query, visit);
  }

 private:
  Status in_any_order(const SampleQuery& query, const SampleVisit& visit) const {
    bool goes_on = true;
    const SampleVisit watched = [&](std::span<const StoredSample> block) {
      goes_on = visit(block);
      return goes_on;
    };
    const Status read = file_samples(query, watched);
    return read && goes_on ? waits_.visit(query, watched) : read;
  }

  // Those of the file that are wanted themselves, or what they stand for.
  Status file_samples(const SampleQuery& query, const SampleVisit& visit) const {
    const WallShares* const wall = waits_.wall();
    if (wall == nullptr) {
      return has_file_ ? reader_.samples(query, visit) : Status{};
    }
    WallShares::Pass pass(*wall);
    std::vector<StoredSample> shares;
    return reader_.samples(query, [&](std::span<const StoredSample> block) {
      shares.clear();
      for (const StoredSample& sample : block) {
        if (const auto share = waits_.share(sample, pass)) {
          shares.push_back(*share);
        }
      }
      return shares.empty() || visit(shares);
    });
  }

  Status by_time(const SampleQuery& query, const SampleVisit& visit) const {
    SamplesByTime waits;
    Status status;
    const Status sorted = waits_.visit(query, [&](std::span<const StoredSample> samples) {
      for (const StoredSample& sample : samples) {
        status = status ? waits.add(sample) : status;
      }
      return status.has_value();
    });
    if (!status || !sorted) {
      return status ? sorted : status;
    }
    Result<const StoredSample*> next = waits.next();
    std::vector<StoredSample> block;
    bool goes_on = true;
    const auto give = [&](const StoredSample& sample) {
      block.push_back(sample);
      if (block.size() == kSamplesAtOnce) {
        goes_on = visit(block);
        block.clear();
      }
      return goes_on;
    };
    // Those that end up to a time.
    const auto give_waits = [&](std::uint64_t time_ns) {
      for (; goes_on && next && *next != nullptr && (*next)->time_ns <= time_ns;
           next = waits.next()) {
        give(**next);
      }
      return next ? Status{} : Status(next.error());
    };
    const auto visit_file = [&](std::span<const StoredSample> samples) {
      for (std::size_t i = 0; i < samples.size() && goes_on; ++i) {
        status = give_waits(samples[i].time_ns);
        goes_on = goes_on && status && give(samples[i]);
      }
      return goes_on;
    };
    const Status read = file_samples(query, visit_file);
    status = status ? read : status;
    if (status && goes_on) {
      status = give_waits(std::numeric_limits<std::uint64_t>::max());
    }
    if (status && goes_on && !block.empty()) {
      visit(block);
    }
    return status;
  }

  const Reader& reader_;
  WaitSamples waits_;
  bool has_file_;
};

// What a look at all intervals says, once.
struct WaitCensus {
  IdlePools pools;
  std::array<std::uint64_t, kWaitStateCount> counts{};
  std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max();
};

Result<WaitCensus> take_census(const Reader& reader, std::uint64_t least_ns,
                               const std::function<Status(const WaitInterval&)>& note) {
  Result<std::vector<std::string>> reasons = reader.wait_reasons();
  if (!reasons) {
    return reasons.error();
  }
  WaitCensus census{IdlePools(std::move(*reasons)), {}, std::numeric_limits<std::uint64_t>::max()};
  Status noted;
  const Status read = reader.intervals({}, [&](std::span<const WaitInterval> rows) {
    for (const WaitInterval& row : rows) {
      census.pools.add(row);
      census.first_ns = std::min(census.first_ns, row.from_ns);
      const bool counts = row.to_ns - row.from_ns >= least_ns;
      census.counts[static_cast<std::size_t>(row.state)] += counts ? 1 : 0;
      noted = noted && counts && note ? note(row) : noted;
    }
    return noted.has_value();
  });
  census.pools.end_thread();
  if (!noted) {
    return noted.error();
  }
  return read ? Result<WaitCensus>(std::move(census)) : Result<WaitCensus>(read.error());
}

bool asks_for(const SampleFilter& filter, const CaptureView& view, std::string_view name) {
  const bool is_there = std::any_of(view.events.begin(), view.events.end(),
                                    [name](const Event& event) { return event.name == name; });
  return !is_there &&
         std::find(filter.events.begin(), filter.events.end(), name) != filter.events.end();
}

using AskedEvents = std::vector<std::pair<WaitState, std::string_view>>;

AskedEvents asked_for(const SampleFilter& filter, const CaptureView& view) {
  AskedEvents asked;
  for (const auto& [state, name] : kWaitEvents) {
    if (asks_for(filter, view, name)) {
      asked.emplace_back(state, name);
    }
  }
  return asked;
}

Status add_wall(const Reader& reader, const WaitCensus& census, CaptureView& view,
                WaitSamples& waits) {
  auto wall = WallShares::create(reader, view);
  if (!wall) {
    return wall.error();
  }
  std::uint64_t samples = (*wall)->samples() + (*wall)->empty_runs();
  for (std::size_t state = 0; state < census.counts.size(); ++state) {
    const bool runs = state == static_cast<std::size_t>(WaitState::kRunning);
    samples += runs ? 0 : census.counts[state];
  }
  waits.set_wall(static_cast<std::uint32_t>(view.events.size()), std::move(*wall));
  view.events.push_back({std::string(kWallEvent), true});
  view.event_samples.push_back(samples);
  return {};
}

constexpr Error kNoDetail{
    ErrorCode::kUsage, kNoOffset,
    "only the events blocked, woken and preempted have wakers and reasons: add "
    "--event blocked"};

// Callstacks with wakers or reasons, for the states that are asked for.
Status add_detail(const Reader& reader, std::shared_ptr<WaitStacks> stacks, CaptureView& view,
                  WaitSamples& waits) {
  const Result<std::vector<std::string>> reasons = reader.wait_reasons();
  if (!reasons) {
    return reasons.error();
  }
  if (const Status finished = stacks->finish(*reasons, view); !finished) {
    return finished;
  }
  view.wait_label = [stacks](StackId stack) { return stacks->label_of(stack); };
  view.callstacks = [stacks](std::span<const StackId> ids, const auto& visit) {
    return stacks->callstacks(ids, visit);
  };
  waits.set_stacks(std::move(stacks));
  return {};
}

void add_events(const AskedEvents& asked, const WaitCensus& census, CaptureView& view,
                WaitSamples& waits) {
  view.event_samples.resize(view.events.size());
  view.first_wait_event = static_cast<std::uint32_t>(view.events.size());
  for (const auto& [state, name] : asked) {
    waits.set_event(state, static_cast<std::uint32_t>(view.events.size()));
    view.events.push_back({std::string(name), true});
    view.event_samples.push_back(census.counts[static_cast<std::size_t>(state)]);
  }
}

// Counts the intervals and puts samples of the asked events, and of wall time, beside those of the
// file.
Status add_found_events(const Reader& reader, const SampleFilter& filter, const AskedEvents& asked,
                        bool is_wall, CaptureView& view) {
  const auto stacks = filter.wait_detail != WaitDetail::kNone
                          ? std::make_shared<WaitStacks>(reader, filter.wait_detail, view)
                          : std::shared_ptr<WaitStacks>();
  const auto note = [&](const WaitInterval& row) {
    const bool is_asked = std::any_of(
        asked.begin(), asked.end(), [&row](const auto& event) { return event.first == row.state; });
    return is_asked || is_wall ? stacks->note(row) : Status{};
  };
  Result<WaitCensus> census =
      take_census(reader, filter.longer_than_ns,
                  stacks ? std::function<Status(const WaitInterval&)>(note) : nullptr);
  if (!census) {
    return census.error();
  }
  const auto range = reader.time_range();
  if (!range) {
    return range.error();
  }
  view.start_ns = *range ? (*range)->from_ns : census->first_ns;
  WaitSamples waits(reader, std::move(census->pools), filter.longer_than_ns);
  if (chooses_threads(filter) && filter.idle != IdleSamples::kLeaveOut) {
    waits.keep_pools();
  }
  if (stacks) {
    if (const Status added = add_detail(reader, stacks, view, waits); !added) {
      return added;
    }
  }
  add_events(asked, *census, view, waits);
  if (is_wall) {
    if (const Status added = add_wall(reader, *census, view, waits); !added) {
      return added;
    }
  }
  const bool has_file = asked.size() < filter.events.size();
  const auto joint = std::make_shared<JointSamples>(reader, std::move(waits), has_file);
  read_samples_from([joint](const SampleQuery& query,
                            const SampleVisit& visit) { return joint->samples(query, visit); },
                    view);
  return {};
}

}  // namespace

Status add_wait_events(const Reader& reader, const SampleFilter& filter, CaptureView& view) {
  const auto asked = asked_for(filter, view);
  const bool has_detail = filter.wait_detail != WaitDetail::kNone;
  const bool is_wall = asks_for(filter, view, kWallEvent);
  if (is_wall && (filter.events.size() != 1 || filter.longer_than_ns != 0)) {
    return Error{ErrorCode::kUsage, kNoOffset,
                 "wall time is all of a thread's time: no other event goes with it, and no "
                 "--longer-than"};
  }
  const bool asks_for_waits = !asked.empty() || is_wall || has_detail;
  if (asks_for_waits && view.has_samples && !reader.has_intervals()) {
    return kNoIntervals;
  }
  if ((asked.empty() && !is_wall) || !view.has_samples) {
    return has_detail && reader.has_intervals() ? Status(kNoDetail) : Status{};
  }
  return add_found_events(reader, filter, asked, is_wall, view);
}

SampleFilter with_wait_event(SampleFilter filter) {
  if (filter.wait_detail != WaitDetail::kNone && filter.events.empty()) {
    filter.events.emplace_back("blocked");
  }
  return filter;
}

Result<CaptureView> view_for(const Reader& reader, const SampleFilter& filter) {
  const auto is_named = [&filter](std::string_view name) {
    return std::find(filter.events.begin(), filter.events.end(), name) != filter.events.end();
  };
  const bool of_waits = is_named(kWallEvent) ||
                        std::any_of(kWaitEvents.begin(), kWaitEvents.end(),
                                    [&](const auto& event) { return is_named(event.second); });
  if (filter.longer_than_ns != 0 && !of_waits && !is_named(kLatencyEvent)) {
    return Error{ErrorCode::kUsage, kNoOffset,
                 "only the events blocked, woken and preempted have lengths"};
  }
  if (filter.wait_detail != WaitDetail::kNone && !of_waits) {
    return kNoDetail;
  }
  Result<CaptureView> view = view_of(reader);
  if (!view) {
    return view;
  }
  Status added = add_wait_events(reader, filter, *view);
  if (added) {
    added = add_thread_time(reader, filter, *view);
  }
  if (added) {
    added = add_latency(reader, filter, *view);
  }
  return added ? std::move(view) : Result<CaptureView>(added.error());
}

}  // namespace stackpack::query
