#include "query/selection/wait_samples.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <tuple>
#include <vector>

#include "query/event_traits.h"

namespace stackpack::query {

namespace {

constexpr std::size_t kSamplesTogether = 4096;

}  // namespace

std::uint64_t WallShares::thread_of(std::uint32_t pid, std::uint32_t tid) const {
  const auto after =
      std::upper_bound(source_firsts_.begin(), source_firsts_.end(), std::uint64_t{pid});
  return static_cast<std::uint64_t>(after - source_firsts_.begin()) << 32 | tid;
}

// Where a run ends, another one may begin: what comes then is of the earlier one.
std::size_t WallShares::run_at(std::uint64_t thread, std::uint64_t time_ns) const {
  const auto after = std::lower_bound(
      runs_.begin(), runs_.end(), std::tuple(thread, time_ns),
      [](const Run& run, const auto& at) { return std::tuple(run.thread, run.to_ns) < at; });
  return after != runs_.end() && after->thread == thread && after->from_ns <= time_ns
             ? static_cast<std::size_t>(after - runs_.begin())
             : kNone;
}

std::size_t WallShares::run_of(const StoredSample& sample) const {
  return sample.event < events_.size() && events_[sample.event]
             ? run_at(thread_of(sample.pid, sample.tid), sample.time_ns)
             : kNone;
}

bool WallShares::is_empty(const WaitInterval& run) const {
  const std::size_t found = run_at(thread_of(run.pid, run.tid), run.to_ns);
  return found == kNone || runs_[found].samples == 0;
}

Status WallShares::read_runs(const Reader& reader) {
  const Status read = reader.intervals({}, [this](std::span<const WaitInterval> rows) {
    for (const WaitInterval& row : rows) {
      if (row.state == WaitState::kRunning && row.to_ns > row.from_ns) {
        runs_.push_back({thread_of(row.pid, row.tid), row.from_ns, row.to_ns, 0});
      }
    }
    return true;
  });
  std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) {
    return std::tuple(a.thread, a.to_ns) < std::tuple(b.thread, b.to_ns);
  });
  return read;
}

Result<std::shared_ptr<const WallShares>> WallShares::create(const Reader& reader,
                                                             const CaptureView& view) {
  const auto shares = std::make_shared<WallShares>();
  shares->source_firsts_ = view.source_firsts;
  for (const Event& event : view.events) {
    shares->events_.push_back(traits_of(event.name).kind == EventKind::kTime);
  }
  if (const Status read = shares->read_runs(reader); !read) {
    return read.error();
  }
  SampleQuery all;
  all.any_order = true;
  const Status read = reader.samples(all, [&shares](std::span<const StoredSample> samples) {
    for (const StoredSample& sample : samples) {
      const std::size_t run = shares->run_of(sample);
      if (run != kNone) {
        ++shares->runs_[run].samples;
        ++shares->samples_;
      }
    }
    return true;
  });
  if (!read) {
    return read.error();
  }
  shares->empty_runs_ = static_cast<std::uint64_t>(std::count_if(
      shares->runs_.begin(), shares->runs_.end(), [](const Run& run) { return run.samples == 0; }));
  return std::shared_ptr<const WallShares>(shares);
}

std::optional<std::uint64_t> WallShares::Pass::share_of(const StoredSample& sample) {
  const std::size_t number = shares_.run_of(sample);
  if (number == kNone) {
    return std::nullopt;
  }
  const Run& run = shares_.runs_[number];
  const std::uint64_t length = run.to_ns - run.from_ns;
  const bool has_more = seen_[number] < length % run.samples;
  ++seen_[number];
  return length / run.samples + (has_more ? 1 : 0);
}

Status WaitSamples::visit(const SampleQuery& query, const SampleVisit& visit) const {
  // An interval that ends in time may begin at any.
  const WaitQuery waits{query.from_ns, query.to_ns, query.pid, query.tid};
  std::vector<StoredSample> block;
  bool goes_on = true;
  const Status read = reader_.intervals(waits, [&](std::span<const WaitInterval> rows) {
    for (const WaitInterval& row : rows) {
      if (is_wanted(row) && row.to_ns >= query.from_ns && row.to_ns <= query.to_ns) {
        block.push_back(sample_of(row));
      }
      if (block.size() == kSamplesTogether) {
        goes_on = visit(block);
        block.clear();
      }
      if (!goes_on) {
        return false;
      }
    }
    return true;
  });
  if (read && goes_on && !block.empty()) {
    visit(block);
  }
  return read;
}

}  // namespace stackpack::query
