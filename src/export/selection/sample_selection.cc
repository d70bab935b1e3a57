#include "export/selection/sample_selection.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "core/index_table.h"
#include "export/selection/event_choice.h"
#include "export/selection/name_pattern.h"
#include "export/selection/saturating.h"

namespace stackpack::exporting {

namespace {

constexpr std::size_t kBlockSamples = 4096;
constexpr Error kNotInFile{ErrorCode::kCorrupt, kNoOffset,
                           "a sample names what is not in the file"};

Error usage(std::string_view what) {
  return {ErrorCode::kUsage, kNoOffset, what};
}

std::uint64_t earliest_of(std::span<const StoredSample> samples) {
  std::uint64_t earliest = std::numeric_limits<std::uint64_t>::max();
  for (const StoredSample& sample : samples) {
    earliest = std::min(earliest, sample.time_ns);
  }
  return earliest;
}

SummedSample summed(const StoredSample& sample, std::uint64_t count, std::uint32_t context,
                    std::uint32_t track) {
  return {sample.time_ns, sample.weight, count, sample.stack, context, sample.event, track};
}

}  // namespace

SampleSelection::SampleSelection(const CaptureView& view, const ExportOptions& options)
    : view_(view),
      options_(options),
      process_lives_(view.processes),
      thread_lives_(view.threads),
      symbols_(view.processes, view.modules, view.names,
               {view.fact(kSyntheticFramesKey) == "1", view.has_return_addresses()}),
      module_filter_(view, symbols_, options.filter) {
  query_.pid = options.filter.pid;
  query_.tid = options.filter.tid;
  weighted_ = options.weight == ExportWeight::kPeriod ||
              (options.weight == ExportWeight::kAuto && aggregated());
}

Result<std::unique_ptr<SampleSelection>> SampleSelection::create(const CaptureView& view,
                                                                 const ExportOptions& options) {
  std::unique_ptr<SampleSelection> selection(new SampleSelection(view, options));
  if (const Status status = selection->choose_events(); !status) {
    return status.error();
  }
  if (!view.has_samples) {
    const Status status = selection->check_counts();
    return status ? Result<std::unique_ptr<SampleSelection>>(std::move(selection))
                  : Result<std::unique_ptr<SampleSelection>>(status.error());
  }
  if (const Status status = selection->find_start(); !status) {
    return status.error();
  }
  if (const Status status = selection->choose_times(); !status) {
    return status.error();
  }
  return selection;
}

Status SampleSelection::check_counts() const {
  const SampleFilter& filter = options_.filter;
  return filter.tid || filter.cpu || filter.from || filter.to || filter.no_idle
             ? usage(
                   "the file keeps counts and no samples; it cannot select by thread, processor, "
                   "idleness or time")
             : Status{};
}

Status SampleSelection::choose_events() {
  const SampleFilter& filter = options_.filter;
  event_wanted_.assign(view_.events.size(), false);
  for (const std::string& pattern : filter.events) {
    if (std::none_of(view_.events.begin(), view_.events.end(), [&pattern](const Event& event) {
          return fits_pattern(event.name, pattern);
        })) {
      return usage("the file has no event of this name; dump --events lists them");
    }
  }
  for (const std::uint32_t event : events_by_preference(view_)) {
    const std::string& name = view_.events[event].name;
    const bool named = filter.events.empty() || fits_any(name, filter.events);
    event_wanted_[event] = named && !fits_any(name, filter.excluded_events);
    if (event_wanted_[event]) {
      candidates_.push_back(event);
    }
  }
  if (candidates_.empty() && !view_.events.empty()) {
    return usage("every event of the file is excluded");
  }
  chooses_event_ = shows_one_event(view_, options_) && candidates_.size() > 1;
  if (chooses_event_) {
    want_main_event();
  }
  return {};
}

void SampleSelection::want_main_event() {
  event_wanted_.assign(view_.events.size(), false);
  event_wanted_[main_event()] = true;
}

bool SampleSelection::choose_next_event() {
  if (!chooses_event_ || candidate_ + 1 == candidates_.size()) {
    return false;
  }
  ++candidate_;
  want_main_event();
  return true;
}

std::vector<EventCount> SampleSelection::events_left_out() const {
  std::vector<EventCount> others;
  for (std::uint32_t event = 0; event < view_.events.size() && chooses_event_; ++event) {
    const bool allowed =
        std::find(candidates_.begin(), candidates_.end(), event) != candidates_.end();
    if (allowed && event != main_event() && view_.samples_of_event(event) != 0) {
      others.push_back({view_.events[event].name,
                        event < view_.event_samples.size() ? view_.event_samples[event] : 0});
    }
  }
  return others;
}

Status SampleSelection::find_start() {
  return view_.samples({}, [this](std::span<const StoredSample> block) {
    if (block.empty()) {
      return true;
    }
    start_ns_ = block.front().time_ns;
    return false;
  });
}

Status SampleSelection::choose_times() {
  const auto absolute = [this](const CaptureTime& time) {
    return time.from_start ? saturating_sum(start_ns_, time.ns) : time.ns;
  };
  if (options_.filter.from) {
    query_.from_ns = absolute(*options_.filter.from);
  }
  if (options_.filter.to) {
    query_.to_ns = absolute(*options_.filter.to);
  }
  return query_.from_ns <= query_.to_ns ? Status{} : usage("the time range ends before it begins");
}

bool SampleSelection::is_in_file(const StoredSample& sample) const {
  return sample.event < event_wanted_.size() &&
         (sample.stack == kNoStack || sample.stack < view_.stack_count);
}

std::string_view SampleSelection::process_name(const Track& track) const {
  return track.process == kNoRow ? std::string_view() : view_.processes[track.process].name;
}

std::string_view SampleSelection::thread_name(const Track& track) const {
  if (track.thread != kNoRow && !view_.threads[track.thread].name.empty()) {
    return view_.threads[track.thread].name;
  }
  return process_name(track);
}

std::optional<std::uint64_t> SampleSelection::wall_ns(std::uint64_t time_ns) const {
  const std::string_view text = view_.fact(kWallOffsetKey);
  std::int64_t offset = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), offset);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    return std::nullopt;
  }
  return time_ns + static_cast<std::uint64_t>(offset);
}

// First time at which other rows may hold than at `time_ns`.
std::uint64_t SampleSelection::valid_until(std::uint32_t pid, std::uint32_t tid,
                                           std::uint64_t time_ns) const {
  return std::min({process_lives_.find(pid, time_ns).valid_until,
                   thread_lives_.find(std::tuple(pid, tid), time_ns).valid_until,
                   symbols_.epochs().find(pid, time_ns).valid_until,
                   symbols_.epochs().find(kKernelPid, time_ns).valid_until});
}

void SampleSelection::refresh(ThreadState& state, std::uint32_t pid, std::uint32_t tid,
                              std::uint64_t time_ns) {
  const auto process = process_lives_.find(pid, time_ns);
  const auto thread = thread_lives_.find(std::tuple(pid, tid), time_ns);
  const Symbols::Epoch own = symbols_.epochs().find(pid, time_ns);
  const Symbols::Epoch shared = symbols_.epochs().find(kKernelPid, time_ns);
  state.valid_until =
      std::min({process.valid_until, thread.valid_until, own.valid_until, shared.valid_until});
  // Samples of other processors may follow which are older.
  const bool was_so = earliest_ns_ < time_ns && valid_until(pid, tid, earliest_ns_) > time_ns;
  state.valid_from = was_so ? earliest_ns_ : time_ns;

  const auto [track, new_track] = track_numbers_.try_emplace(
      std::tuple(pid, tid, process.row, thread.row), static_cast<std::uint32_t>(tracks_.size()));
  if (new_track) {
    tracks_.push_back({pid, tid, process.row, thread.row});
  }
  const auto [context, new_context] = context_numbers_.try_emplace(
      std::tuple(pid, own.number, shared.number), static_cast<std::uint32_t>(contexts_.size()));
  if (new_context) {
    contexts_.push_back({pid, time_ns});
  }
  state.track = track->second;
  state.context = context->second;
  const Track& row = tracks_[state.track];
  const auto named = [&](const std::vector<std::string>& names) {
    return fits_any(process_name(row), names) || fits_any(thread_name(row), names);
  };
  const SampleFilter& filter = options_.filter;
  state.wanted = (filter.comms.empty() || named(filter.comms)) && !named(filter.excluded_comms);
}

const SampleSelection::ThreadState& SampleSelection::state_of(std::uint32_t pid, std::uint32_t tid,
                                                              std::uint64_t time_ns) {
  const std::uint64_t key = (std::uint64_t{pid} << 32) | tid;
  RecentThread& recent = recent_[core::spread_bits(key) % kRecentThreads];
  if (recent.state == nullptr || recent.key != key) {
    recent.state = &states_[key];
    recent.key = key;
  }
  ThreadState& state = *recent.state;
  if (time_ns < state.valid_from || time_ns >= state.valid_until) {
    refresh(state, pid, tid, time_ns);
  }
  return state;
}

const SampleSelection::ThreadState* SampleSelection::select(const StoredSample& sample) {
  const SampleFilter& filter = options_.filter;
  if (!event_wanted_[sample.event] || (filter.cpu && *filter.cpu != sample.cpu) ||
      (filter.no_idle && (sample.flags & kSampleIdle) != 0)) {
    return nullptr;
  }
  const ThreadState& state = state_of(sample.pid, sample.tid, sample.time_ns);
  return state.wanted ? &state : nullptr;
}

template <typename Row>
Status SampleSelection::drop_unwanted(std::vector<Row>& block) {
  if (!module_filter_.active()) {
    return {};
  }
  std::vector<PlacedStack> places;
  places.reserve(block.size());
  for (const Row& sample : block) {
    const MappingContext& context = contexts_[sample.context];
    places.push_back({sample.stack, sample.context, context.pid, context.time_ns});
  }
  std::vector<bool> wanted;
  if (const Status status = module_filter_.judge(places, wanted); !status) {
    return status;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (wanted[i]) {
      block[kept++] = block[i];
    }
  }
  block.resize(kept);
  return {};
}

Status SampleSelection::for_each(
    const std::function<Status(std::span<const SelectedSample>)>& visit) {
  return view_.has_samples ? for_each_sample(visit) : for_each_count(visit);
}

Status SampleSelection::for_each_summed(
    const SummedFields& fields, const std::function<Status(std::span<const SummedSample>)>& visit) {
  if (!view_.has_samples) {
    return sum_counts(visit);
  }
  SampleScan scan;
  scan.query = query_;
  scan.query.any_order = !fields.by_time;
  scan.columns = columns_of_filter() | (fields.stack ? kStackColumn : 0U) |
                 (fields.weight ? kWeightColumn : 0U);
  return for_each_in_columns(scan, visit);
}

// Of a file that keeps counts.
Status SampleSelection::sum_counts(
    const std::function<Status(std::span<const SummedSample>)>& visit) {
  std::vector<SummedSample> sums;
  sums.reserve(kBlockSamples);
  return for_each_count([&](std::span<const SelectedSample> block) {
    sums.clear();
    for (const SelectedSample& sample : block) {
      sums.push_back(summed(sample, sample.count, sample.context, sample.track));
    }
    return visit(sums);
  });
}

// The columns that say whether a sample is wanted, and what its addresses mean.
std::uint32_t SampleSelection::columns_of_filter() const {
  std::uint32_t columns = kTimeColumn | kPidColumn | kTidColumn;
  columns |= module_filter_.active() ? kStackColumn : 0U;
  columns |= view_.events.size() > 1 ? kEventColumn : 0U;
  columns |= options_.filter.cpu ? kCpuColumn : 0U;
  columns |= options_.filter.no_idle ? kFlagsColumn : 0U;
  return columns;
}

// The samples of a block that are wanted, which is empty then.
template <typename Row>
Status SampleSelection::pass_on(std::vector<Row>& block,
                                const std::function<Status(std::span<const Row>)>& visit) {
  if (const Status status = drop_unwanted(block); !status) {
    return status;
  }
  for (const Row& sample : block) {
    range_.first_ns = range_known_ ? std::min(range_.first_ns, sample.time_ns) : sample.time_ns;
    range_.last_ns = std::max(range_.last_ns, sample.time_ns);
    range_known_ = true;
  }
  const Status visited = block.empty() ? Status{} : visit(block);
  block.clear();
  return visited;
}

Status SampleSelection::for_each_sample(
    const std::function<Status(std::span<const SelectedSample>)>& visit) {
  std::vector<SelectedSample> block;
  block.reserve(kBlockSamples);
  Status status;
  const Status read = view_.samples(query_, [&](std::span<const StoredSample> samples) {
    earliest_ns_ = earliest_of(samples);
    for (const StoredSample& sample : samples) {
      if (!is_in_file(sample)) {
        status = Error(kNotInFile);
        return false;
      }
      if (const ThreadState* const state = select(sample)) {
        block.push_back({{sample}, 1, state->track, state->context});
      }
      if (block.size() == kBlockSamples) {
        status = pass_on(block, visit);
      }
      if (!status) {
        return false;
      }
    }
    return true;
  });
  status = status ? read : status;
  return status ? pass_on(block, visit) : status;
}

Status SampleSelection::for_each_in_columns(
    const SampleScan& scan, const std::function<Status(std::span<const SummedSample>)>& visit) {
  std::vector<SummedSample> block;
  block.reserve(kBlockSamples);
  Status status;
  const Status read = view_.columns(scan, [&](const SampleColumns& samples) {
    earliest_ns_ = *std::min_element(samples.time_ns.begin(), samples.time_ns.end());
    for (std::size_t i = 0; i < samples.rows && status; ++i) {
      StoredSample sample;
      sample.time_ns = samples.time_ns[i];
      sample.pid = samples.pid[i];
      sample.tid = samples.tid[i];
      sample.event = samples.event.empty() ? 0 : samples.event[i];
      sample.cpu = samples.cpu.empty() ? kUnknownId : samples.cpu[i];
      sample.flags = samples.flags.empty() ? std::uint8_t{0} : samples.flags[i];
      sample.weight = samples.weight.empty() ? 0 : samples.weight[i];
      sample.stack = samples.stack.empty() ? kNoStack : samples.stack[i];
      if (!is_in_file(sample)) {
        status = Error(kNotInFile);
        return false;
      }
      if (const ThreadState* const state = select(sample)) {
        block.push_back(summed(sample, 1, state->context, state->track));
      }
      if (block.size() == kBlockSamples) {
        status = pass_on(block, visit);
      }
    }
    return status.has_value();
  });
  status = status ? read : status;
  return status ? pass_on(block, visit) : status;
}

Status SampleSelection::for_each_count(
    const std::function<Status(std::span<const SelectedSample>)>& visit) {
  std::vector<SelectedSample> block;
  for (std::size_t i = 0; i < view_.stack_counts.size(); ++i) {
    const StackCount& row = view_.stack_counts[i];
    StoredSample sample;
    sample.time_ns = std::numeric_limits<std::uint64_t>::max() - 1;
    sample.pid = row.pid;
    sample.event = row.event;
    sample.origin = row.origin;
    sample.stack = row.stack;
    sample.weight = row.weight;
    if (!is_in_file(sample)) {
      return Error(kNotInFile);
    }
    const std::optional<std::uint32_t> pid = options_.filter.pid;
    const ThreadState* const state = !pid || *pid == row.pid ? select(sample) : nullptr;
    if (state != nullptr) {
      block.push_back({{sample}, row.samples, state->track, state->context});
    }
    if (block.size() == kBlockSamples || i + 1 == view_.stack_counts.size()) {
      if (const Status status = drop_unwanted(block); !status) {
        return status;
      }
      if (const Status status = block.empty() ? Status{} : visit(block); !status) {
        return status;
      }
      block.clear();
    }
  }
  return {};
}

}  // namespace stackpack::exporting
