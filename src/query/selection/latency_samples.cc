#include "query/selection/latency_samples.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "capture/life_index.h"
#include "capture/synthetic_frames.h"
#include "core/no_callstack.h"
#include "io/directories.h"
#include "query/event_traits.h"
#include "query/name_pattern.h"
#include "query/selection/latency_sweep.h"
#include "query/selection/made_samples.h"
#include "query/selection/wait_samples.h"
#include "scratch/external_sort.h"
#include "stackpack/waits.h"

namespace stackpack::query {

namespace {

using capture::SyntheticFrames;

// In the order in which reports have them; after them what has a thread and a sample, and no
// callstack.
constexpr std::array<std::string_view, 4> kTitles = {"[nothing runs]", "[not sampled]",
                                                     "[not recorded]", core::kNoCallstack};
constexpr std::uint32_t kNothingRuns = 0;
constexpr std::uint32_t kNotSampled = 1;
constexpr std::uint32_t kNotRecorded = 2;
constexpr std::uint32_t kNoCallstack = 3;

std::uint64_t address_of_title(std::size_t title) {
  return SyntheticFrames::kFirstAddress + SyntheticFrames::kMostNames - 2 * kTitles.size() +
         2 * title;
}

// Threads of a filter.
class ThreadScope {
 public:
  ThreadScope(const SampleFilter& filter, const CaptureView& view)
      : filter_(filter),
        by_name_(!filter.comms.empty() || !filter.excluded_comms.empty()),
        processes_(by_name_ ? view.processes : std::vector<Process>()),
        threads_(by_name_ ? view.threads : std::vector<Thread>()),
        process_lives_(processes_),
        thread_lives_(threads_) {}
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

  [[nodiscard]] bool has(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns) const {
    if (tid == 0 || (filter_.pid && *filter_.pid != pid) || (filter_.tid && *filter_.tid != tid)) {
      return false;
    }
    if (!by_name_) {
      return true;
    }
    const std::uint32_t process = process_lives_.find(pid, time_ns).row;
    const std::uint32_t thread = thread_lives_.find(std::tuple(pid, tid), time_ns).row;
    const auto named = [&](const std::vector<std::string>& names) {
      return (process != capture::kNoRow && fits_any(processes_[process].name, names)) ||
             (thread != capture::kNoRow && fits_any(threads_[thread].name, names));
    };
    return (filter_.comms.empty() || named(filter_.comms)) && !named(filter_.excluded_comms);
  }

 private:
  SampleFilter filter_;
  bool by_name_;
  std::vector<Process> processes_;
  std::vector<Thread> threads_;
  capture::ProcessLives process_lives_;
  capture::ThreadLives thread_lives_;
};

// A run begins or ends.
struct RunEdge {
  std::uint64_t time_ns = 0;
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::uint32_t ends = 0;
  std::uint32_t unused = 0;
};
struct EdgeOrder {
  static std::uint64_t key(const RunEdge& edge) { return edge.time_ns; }
  static bool before(const RunEdge& a, const RunEdge& b) {
    return std::tuple(a.time_ns, a.ends, a.tid, a.pid) <
           std::tuple(b.time_ns, b.ends, b.tid, b.pid);
  }
};

// Lost records end intervals of all states; a thread whose switch-in is missing has another one.
bool is_cut_by_lost(const WaitInterval& row) {
  return (row.flags & kWaitCut) != 0 && row.state != WaitState::kAwake &&
         row.state != WaitState::kUnknown;
}

// Runs of the threads by time, the time of all intervals, and the times without records.
class RunsByTime {
 public:
  RunsByTime(const Reader& reader, const ThreadScope& scope, std::uint64_t from_ns,
             std::uint64_t to_ns)
      : reader_(reader),
        scope_(scope),
        from_ns_(from_ns),
        to_ns_(to_ns),
        edges_(io::temporary_directory(), kEdges) {}

  Status read() {
    Status added;
    const Status read = reader_.intervals({}, [&](std::span<const WaitInterval> rows) {
      for (const WaitInterval& row : rows) {
        first_ns_ = std::min(first_ns_, row.from_ns);
        last_ns_ = std::max(last_ns_, row.to_ns);
        if (is_cut_by_lost(row)) {
          note_cut(row.to_ns);
        }
        added = added ? note(row) : added;
      }
      return added.has_value();
    });
    if (!read || !added) {
      return read ? added : read;
    }
    added = flush();
    settle_cuts();
    return added && !cuts_.empty() ? find_gaps() : added;
  }

  [[nodiscard]] std::uint64_t begin_ns() const { return std::max(from_ns_, first_ns_); }
  [[nodiscard]] std::uint64_t end_ns() const { return std::min(to_ns_, last_ns_); }
  [[nodiscard]] LatencySweep::Gaps take_gaps() { return std::move(gaps_); }
  /// As ExternalSort::next.
  Result<const RunEdge*> next() { return edges_.next(); }

 private:
  static constexpr std::size_t kEdges = std::size_t{1} << 18;

  // Lost records cut the intervals of many threads at one time.
  void note_cut(std::uint64_t time_ns) {
    cuts_.push_back(time_ns);
    if (cuts_.size() >= most_cuts_) {
      settle_cuts();
      most_cuts_ = std::max(most_cuts_, 2 * cuts_.size());
    }
  }

  void settle_cuts() {
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  }

  // A run that goes on in the next row is one.
  Status note(const WaitInterval& row) {
    if (row.state != WaitState::kRunning || row.to_ns <= row.from_ns ||
        !scope_.has(row.pid, row.tid, row.to_ns)) {
      return {};
    }
    if (row.tid == run_.tid && row.from_ns == run_.to_ns) {
      run_.to_ns = row.to_ns;
      return {};
    }
    const Status flushed = flush();
    run_ = row;
    return flushed;
  }

  Status flush() {
    const std::uint64_t begin = std::max(run_.from_ns, from_ns_);
    const std::uint64_t end = std::min(run_.to_ns, to_ns_);
    if (begin >= end) {
      return {};
    }
    const Status added = edges_.add({begin, run_.pid, run_.tid, 0, 0});
    return added ? edges_.add({end, run_.pid, run_.tid, 1, 0}) : added;
  }

  // A gap lasts until something is known of a thread again.
  Status find_gaps() {
    std::vector<std::uint64_t> ends(cuts_.size(), last_ns_);
    const Status read = reader_.intervals({}, [&](std::span<const WaitInterval> rows) {
      for (const WaitInterval& row : rows) {
        const auto after = std::upper_bound(cuts_.begin(), cuts_.end(), row.from_ns);
        if (row.state != WaitState::kUnknown && after != cuts_.begin()) {
          std::uint64_t& end = ends[static_cast<std::size_t>(after - cuts_.begin()) - 1];
          end = std::min(end, row.from_ns);
        }
      }
      return true;
    });
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
      const std::uint64_t until = i + 1 < cuts_.size() ? cuts_[i + 1] : last_ns_;
      gaps_.emplace_back(cuts_[i], std::min(ends[i], until));
    }
    return read;
  }

  const Reader& reader_;
  const ThreadScope& scope_;
  std::uint64_t from_ns_;
  std::uint64_t to_ns_;
  std::uint64_t first_ns_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last_ns_ = 0;
  WaitInterval run_{};
  std::vector<std::uint64_t> cuts_;
  std::size_t most_cuts_ = 4096;  // then equal ones go
  LatencySweep::Gaps gaps_;
  scratch::ExternalSort<RunEdge, EdgeOrder> edges_;
};

class LatencySamples {
 public:
  LatencySamples(const Reader& reader, const SampleFilter& filter, const CaptureView& view)
      : reader_(reader),
        scope_(filter, view),
        event_(static_cast<std::uint32_t>(view.events.size())),
        first_stack_(view.stack_count) {
    for (const Event& event : view.events) {
      timed_.push_back(traits_of(event.name).kind == EventKind::kTime);
    }
  }

  Status samples(const SampleQuery& query, const SampleVisit& visit) const {
    if (query.any_order) {
      return in_order_of_ends(query, visit);
    }
    SamplesByTime sorted;
    Status added;
    const Status made = in_order_of_ends(query, [&](std::span<const StoredSample> block) {
      for (const StoredSample& sample : block) {
        added = added ? sorted.add(sample) : added;
      }
      return added.has_value();
    });
    return !added ? added : made ? give_sorted(sorted, visit) : made;
  }

  Status callstacks(std::span<const StackId> ids,
                    const std::function<bool(std::size_t, std::span<const Frame>)>& visit) const {
    std::vector<StackId> recorded;
    std::vector<std::size_t> at;
    bool goes_on = true;
    for (std::size_t i = 0; i < ids.size() && goes_on; ++i) {
      if (ids[i] < first_stack_) {
        recorded.push_back(ids[i]);
        at.push_back(i);
      } else {
        const Frame frame{FrameMode::kUnknown, address_of_title(ids[i] - first_stack_)};
        goes_on = visit(i, std::span(&frame, 1));
      }
    }
    return goes_on ? reader_.callstacks(recorded,
                                        [&](std::size_t position, std::span<const Frame> frames) {
                                          return visit(at[position], frames);
                                        })
                   : Status{};
  }

 private:
  static Status give_sorted(SamplesByTime& sorted, const SampleVisit& visit) {
    std::vector<StoredSample> block;
    while (true) {
      const Result<const StoredSample*> row = sorted.next();
      if (!row) {
        return row.error();
      }
      if (*row != nullptr) {
        block.push_back(**row);
      }
      if (block.size() == kSamplesAtOnce || (*row == nullptr && !block.empty())) {
        if (!visit(block)) {
          return {};
        }
        block.clear();
      }
      if (*row == nullptr) {
        return {};
      }
    }
  }

  [[nodiscard]] StoredSample made_of(StoredSample sample, ClockUse use) const {
    sample.event = event_;
    if (use != ClockUse::kSampled) {
      const std::uint32_t title = use == ClockUse::kNotSampled    ? kNotSampled
                                  : use == ClockUse::kNothingRuns ? kNothingRuns
                                                                  : kNotRecorded;
      sample.stack = first_stack_ + title;
      if (use != ClockUse::kNotSampled) {
        sample.pid = kClockPid;
        sample.tid = kClockPid - title;
      }
    } else if (sample.stack == kNoStack) {
      sample.stack = first_stack_ + kNoCallstack;
    }
    return sample;
  }

  // Each when its weight is known.
  Status in_order_of_ends(const SampleQuery& query, const SampleVisit& visit) const {
    RunsByTime runs(reader_, scope_, query.from_ns, query.to_ns);
    if (const Status read = runs.read(); !read) {
      return read;
    }
    std::vector<StoredSample> block;
    bool goes_on = true;
    LatencySweep sweep(runs.begin_ns(), runs.take_gaps(),
                       [&](const StoredSample& sample, ClockUse use) {
                         block.push_back(made_of(sample, use));
                         if (block.size() >= kSamplesAtOnce) {
                           goes_on = goes_on && visit(block);
                           block.clear();
                         }
                       });
    Result<const RunEdge*> edge = runs.next();
    // Up to a time, and with those that end at it or without.
    const auto go_to = [&](std::uint64_t time_ns, bool ends) {
      while (goes_on && edge && *edge != nullptr &&
             ((*edge)->time_ns < time_ns ||
              ((*edge)->time_ns == time_ns && (ends || (*edge)->ends == 0)))) {
        if ((*edge)->ends != 0) {
          sweep.end_run((*edge)->tid, (*edge)->time_ns);
        } else {
          sweep.begin_run((*edge)->pid, (*edge)->tid, (*edge)->time_ns);
        }
        edge = runs.next();
      }
      return goes_on && edge.has_value();
    };
    const Status read =
        reader_.samples(timed_query(query), [&](std::span<const StoredSample> samples) {
          for (const StoredSample& sample : samples) {
            if (is_timed(sample) && go_to(sample.time_ns, false)) {
              sweep.add(sample);
            }
          }
          return goes_on && edge.has_value();
        });
    if (!read || !goes_on) {
      return read;
    }
    go_to(std::numeric_limits<std::uint64_t>::max(), true);
    if (!edge) {
      return edge.error();
    }
    sweep.finish(runs.end_ns());
    if (goes_on && !block.empty()) {
      visit(block);
    }
    return {};
  }

  static SampleQuery timed_query(const SampleQuery& query) {
    SampleQuery times;
    times.from_ns = query.from_ns;
    times.to_ns = query.to_ns;
    return times;
  }

  [[nodiscard]] bool is_timed(const StoredSample& sample) const {
    return sample.event < timed_.size() && timed_[sample.event] &&
           scope_.has(sample.pid, sample.tid, sample.time_ns);
  }

  const Reader& reader_;
  ThreadScope scope_;
  std::uint32_t event_;
  StackId first_stack_;
  std::vector<bool> timed_;  // by event
};

void add_titles(CaptureView& view) {
  std::vector<Function> functions;
  for (std::size_t title = 0; title < kTitles.size(); ++title) {
    Function function;
    function.owner = FunctionOwner::kKernel;
    function.start = address_of_title(title);
    function.size = 1;
    function.name = static_cast<std::uint32_t>(view.names.texts.size());
    view.names.texts.add(std::string(kTitles[title]));
    functions.push_back(function);
  }
  const auto place =
      std::find_if(view.names.functions.begin(), view.names.functions.end(), [](const Function& f) {
        return f.owner > FunctionOwner::kKernel ||
               (f.owner == FunctionOwner::kKernel && f.start > address_of_title(0));
      });
  view.names.functions.insert(place, functions.begin(), functions.end());
  view.metadata.push_back({std::string(kSyntheticFramesKey), "1"});
}

Error latency_usage(std::string_view what) {
  return {ErrorCode::kUsage, kNoOffset, what};
}

}  // namespace

std::string_view clock_title(std::uint32_t pid, std::uint32_t tid) {
  const std::uint32_t title = kClockPid - tid;
  return pid == kClockPid && title < kTitles.size() ? kTitles[title] : std::string_view();
}

unsigned clock_rank(std::string_view name) {
  for (unsigned title = 0; title < kNoCallstack; ++title) {
    if (kTitles[title] == name) {
      return title + 1;
    }
  }
  return 0;
}

Status add_latency(const Reader& reader, const SampleFilter& filter, CaptureView& view) {
  const auto is_latency = [](const std::string& name) { return name == kLatencyEvent; };
  const bool is_asked = std::any_of(filter.events.begin(), filter.events.end(), is_latency);
  const bool is_there = std::any_of(view.events.begin(), view.events.end(),
                                    [&](const Event& event) { return is_latency(event.name); });
  if (!is_asked || is_there || !view.has_samples) {
    return {};
  }
  if (filter.events.size() != 1 || filter.longer_than_ns != 0) {
    return latency_usage(
        "latency is all of the clock: no other event goes with it, and no "
        "--longer-than");
  }
  if (!reader.has_intervals()) {
    return kNoIntervals;
  }
  if (view.source_count > 1) {
    return latency_usage(
        "latency is of one recording: captures of a merged file have a clock "
        "each");
  }
  if (kNoStack - view.stack_count <= kTitles.size()) {
    return latency_usage("the file has too many callstacks");
  }
  const auto range = reader.time_range();
  if (!range) {
    return range.error();
  }
  if (*range) {
    view.start_ns = (*range)->from_ns;
  }
  const auto latency = std::make_shared<LatencySamples>(reader, filter, view);
  std::uint64_t samples = 1;
  for (const std::uint64_t count : view.event_samples) {
    samples += count;
  }
  view.event_samples.resize(view.events.size());
  view.events.push_back({std::string(kLatencyEvent), true});
  view.event_samples.push_back(samples);
  add_titles(view);
  view.stack_count += static_cast<StackId>(kTitles.size());
  const StackId first = view.stack_count - static_cast<StackId>(kTitles.size());
  view.wait_label = [first](StackId stack) {
    return stack >= first && stack - first < kTitles.size() ? kTitles[stack - first]
                                                            : std::string_view();
  };
  read_samples_from([latency](const SampleQuery& query,
                              const SampleVisit& visit) { return latency->samples(query, visit); },
                    view);
  view.callstacks = [latency](std::span<const StackId> ids, const auto& visit) {
    return latency->callstacks(ids, visit);
  };
  return {};
}

}  // namespace stackpack::query
