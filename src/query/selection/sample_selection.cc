#include "query/selection/sample_selection.h"

#include <algorithm>
#include <limits>

#include "core/index_table.h"
#include "core/saturating.h"
#include "query/field_cursor.h"
#include "query/name_pattern.h"
#include "query/selection/latency_samples.h"

namespace stackpack::query {

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

std::uint64_t hash_of(const Track& track) {
  const std::uint64_t ids = (std::uint64_t{track.pid} << 32) | track.tid;
  const std::uint64_t rows = (std::uint64_t{track.process} << 32) | track.thread;
  return core::mix_bits(ids + core::spread_bits(rows) + core::spread_bits(track.label_set + 1ULL));
}

SummedSample summed(const StoredSample& sample, std::uint64_t count, std::uint32_t context,
                    std::uint32_t track) {
  return {sample.time_ns, sample.weight, count, sample.stack, context, sample.event, track};
}

}  // namespace

SampleSelection::SampleSelection(const CaptureView& view, const ExportOptions& options,
                                 EventChoice choice, bool leaves_idle_out)
    : view_(view),
      options_(options),
      process_lives_(view.processes),
      thread_lives_(view.threads),
      symbols_(view.processes, view.modules, view.names, view.address_facts()),
      choice_(std::move(choice)),
      leaves_idle_out_(leaves_idle_out),
      module_filter_(view, symbols_, options.filter) {
  query_.pid = options.filter.pid;
  query_.tid = options.filter.tid;
}

Result<std::unique_ptr<SampleSelection>> SampleSelection::create(const CaptureView& view,
                                                                 const ExportOptions& options,
                                                                 const SelectionRules& rules) {
  auto choice = EventChoice::create(view, options, rules);
  if (!choice) {
    return choice.error();
  }
  const bool reports = rules.is_report || options.format == ExportFormat::kHtml;
  // Counts do not say which samples were idle.
  const bool leaves_idle_out =
      options.filter.idle == IdleSamples::kLeaveOut ||
      (options.filter.idle == IdleSamples::kAuto && reports && view.has_samples);
  std::unique_ptr<SampleSelection> selection(
      new SampleSelection(view, options, std::move(*choice), leaves_idle_out));
  selection->splits_by_labels_ = rules.labels && view.label_sets && view.fields;
  selection->numbers_ = rules.numbers || selection->splits_by_labels_ ||
                        !options.filter.cgroups.empty() || !options.filter.labels.empty();
  selection->want_control_groups();
  if (!view.has_samples) {
    const Status status = selection->check_counts();
    return status ? Result<std::unique_ptr<SampleSelection>>(std::move(selection))
                  : Result<std::unique_ptr<SampleSelection>>(status.error());
  }
  if (!options.filter.cgroups.empty() && view.control_groups.empty()) {
    return usage("the file does not say of what control groups its samples are");
  }
  if (!options.filter.cgroups.empty() && !view.fields) {
    return usage("only samples of the file are of control groups, and no waits or thread times");
  }
  if (const Status status = selection->want_labels(); !status) {
    return status.error();
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
  return filter.tid || filter.cpu || filter.from || filter.to || leaves_idle_out_ ||
                 !filter.cgroups.empty() || !filter.labels.empty()
             ? usage(
                   "the file keeps counts and no samples; it cannot select by thread, processor, "
                   "control group, label, idleness or time")
             : Status{};
}

Status SampleSelection::find_start() {
  if (view_.start_ns) {
    start_ns_ = *view_.start_ns;
    return {};
  }
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
    return time.from_start ? core::saturating_sum(start_ns_, time.ns) : time.ns;
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
  return sample.event < view_.events.size() &&
         (sample.stack == kNoStack || sample.stack < view_.stack_count);
}

std::uint32_t SampleSelection::number_of(const Track& track) {
  const std::uint32_t number = track_numbers_.find_or_insert(
      hash_of(track), static_cast<std::uint32_t>(tracks_.size()),
      [&](std::uint32_t i) { return tracks_[i] == track; },
      [this](std::uint32_t i) { return hash_of(tracks_[i]); });
  if (number == tracks_.size()) {
    tracks_.push_back(track);
  }
  return number;
}

std::uint32_t SampleSelection::number_of(const ContextKey& context) {
  const auto [number, fresh] =
      context_numbers_.try_emplace(std::tuple(context.pid, context.own, context.shared),
                                   static_cast<std::uint32_t>(contexts_.size()));
  if (fresh) {
    contexts_.push_back({context.pid, context.time_ns});
  }
  return number->second;
}

// `earliest_ns`: of the samples that are being read.
SampleSelection::ThreadFound SampleSelection::find_thread(std::uint32_t pid, std::uint32_t tid,
                                                          std::uint64_t time_ns,
                                                          std::uint64_t earliest_ns) const {
  const auto process = process_lives_.find(pid, time_ns);
  const auto thread = thread_lives_.find(std::tuple(pid, tid), time_ns);
  const Symbols::Epoch own = symbols_.epochs().find(pid, time_ns);
  const Symbols::Epoch shared = symbols_.epochs().find(kKernelPid, time_ns);
  ThreadFound found;
  found.track = {pid, tid, process.row, thread.row};
  found.context = {pid, own.number, shared.number, time_ns};
  found.valid_until =
      std::min({process.valid_until, thread.valid_until, own.valid_until, shared.valid_until});
  // Samples of other processors may follow which are older.
  const bool was_so = earliest_ns < time_ns && valid_until(pid, tid, earliest_ns) > time_ns;
  found.valid_from = was_so ? earliest_ns : time_ns;
  const auto named = [&](const std::vector<std::string>& names) {
    return fits_any(process_name(found.track), names) || fits_any(thread_name(found.track), names);
  };
  const SampleFilter& filter = options_.filter;
  found.wanted = (filter.comms.empty() || named(filter.comms)) && !named(filter.excluded_comms);
  return found;
}

void SampleSelection::refresh(ThreadState& state, std::uint32_t pid, std::uint32_t tid,
                              std::uint64_t time_ns) {
  const ThreadFound found = find_thread(pid, tid, time_ns, earliest_ns_);
  state.valid_from = found.valid_from;
  state.valid_until = found.valid_until;
  state.track = number_of(found.track);
  state.context = number_of(found.context);
  state.wanted = found.wanted;
}

const SampleSelection::ThreadState& SampleSelection::state_of(std::uint32_t pid, std::uint32_t tid,
                                                              std::uint64_t time_ns) {
  ThreadState& state = states_.of(pid, tid);
  if (time_ns < state.valid_from || time_ns >= state.valid_until) {
    refresh(state, pid, tid, time_ns);
  }
  return state;
}

const SampleSelection::ThreadState* SampleSelection::select(const StoredSample& sample) {
  const SampleFilter& filter = options_.filter;
  if (!choice_.wants(sample.event) || (filter.cpu && *filter.cpu != sample.cpu)) {
    return nullptr;
  }
  const ThreadState& state = state_of(sample.pid, sample.tid, sample.time_ns);
  return state.wanted || sample.pid == kClockPid ? &state : nullptr;
}

std::optional<std::uint32_t> SampleSelection::context_at(std::uint32_t pid, std::uint32_t tid,
                                                         std::uint64_t time_ns) {
  if ((query_.pid && *query_.pid != pid) || (query_.tid && *query_.tid != tid) ||
      time_ns < query_.from_ns || time_ns > query_.to_ns) {
    return std::nullopt;
  }
  earliest_ns_ = time_ns;
  const ThreadState& state = state_of(pid, tid, time_ns);
  return state.wanted ? std::optional(state.context) : std::nullopt;
}

std::uint32_t SampleSelection::context_of(std::uint32_t pid, std::uint32_t tid,
                                          std::uint64_t time_ns) {
  earliest_ns_ = time_ns;
  return state_of(pid, tid, time_ns).context;
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
      if (leaves_idle_out_) {
        is_idle_[kept] = is_idle_[i];
      }
      block[kept++] = block[i];
    }
  }
  block.resize(kept);
  return {};
}

// The last of the filters, so that what it drops is what nothing else would have.
template <typename Row>
void SampleSelection::drop_idle(std::vector<Row>& block) {
  if (!leaves_idle_out_) {
    return;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const Row& sample = block[i];
    const bool counts = choice_.joined(sample.event) == choice_.main_event();
    const double value = counts ? static_cast<double>(value_of(sample)) : 0;
    if (is_idle_[i] != 0) {
      core::add_saturating(idle_samples_, sample.count);
      idle_value_ += value;
    } else {
      kept_value_ += value;
      block[kept++] = sample;
    }
  }
  block.resize(kept);
  is_idle_.clear();
}

void SampleSelection::begin_pass() {
  is_idle_.clear();
  idle_samples_ = 0;
  idle_value_ = 0;
  kept_value_ = 0;
}

void SampleSelection::end_pass() {
  idle_ = {idle_samples_, idle_value_, idle_value_ + kept_value_,
           choice_.main_event() >= view_.first_wait_event};
}

// A sample that is wanted, unless it is idle.
void SampleSelection::note_idle(const StoredSample& sample) {
  if (leaves_idle_out_) {
    is_idle_.push_back((sample.flags & kSampleIdle) != 0 ? 1 : 0);
  }
}

Status SampleSelection::for_each(
    const std::function<Status(std::span<const SelectedSample>)>& visit) {
  begin_pass();
  const Status status = view_.has_samples ? for_each_sample(visit) : for_each_count(visit);
  if (status) {
    end_pass();
  }
  return status;
}

SampleScan SampleSelection::scan_of(const SummedFields& fields) const {
  SampleScan scan;
  scan.query = query_;
  scan.query.any_order = !fields.by_time;
  const bool weighs_idle = leaves_idle_out_ && choice_.any_weighted();
  scan.columns = columns_of_filter() | (fields.stack ? kStackColumn : 0U) |
                 (fields.weight || weighs_idle ? kWeightColumn : 0U);
  return scan;
}

Status SampleSelection::for_each_summed(
    const SummedFields& fields, const std::function<Status(std::span<const SummedSample>)>& visit) {
  if (!view_.has_samples) {
    return sum_counts(visit);
  }
  begin_pass();
  const SampleScan scan = scan_of(fields);
  const Status status = reads_in_parts() ? for_each_in_parts(scan, fields, visit)
                        : numbers_       ? sum_samples(visit)
                                         : for_each_in_columns(scan, visit);
  if (status) {
    end_pass();
  }
  return status;
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
      sums.back().event = choice_.joined(sample.event);
    }
    return visit(sums);
  });
}

// The samples of a block that are wanted, which is empty then.
template <typename Row>
Status SampleSelection::pass_on(std::vector<Row>& block,
                                const std::function<Status(std::span<const Row>)>& visit) {
  if (const Status status = drop_unwanted(block); !status) {
    return status;
  }
  drop_idle(block);
  for (const Row& sample : block) {
    range_.first_ns = range_known_ ? std::min(range_.first_ns, sample.time_ns) : sample.time_ns;
    range_.last_ns = std::max(range_.last_ns, sample.time_ns);
    range_known_ = true;
  }
  const Status visited = block.empty() ? Status{} : visit(block);
  block.clear();
  return visited;
}

// Numbers of samples, and their control groups, in a pass over all of the file.
class SampleSelection::FieldsOfPass {
 public:
  explicit FieldsOfPass(const SampleSelection& selection)
      : selection_(selection), cursor_(selection.view_.fields) {}

  /// False: the sample is not wanted, or what it is of cannot be read.
  bool next(const StoredSample& sample, SelectedSample& found, Status& status) {
    found.number = next_++;
    if (!selection_.is_queried(sample)) {
      return false;
    }
    found.control_group = kNoRow;
    found.label_set = kNoRow;
    const bool names_any =
        !selection_.wants_control_group_.empty() || selection_.view_.label_sets != nullptr;
    if (names_any && selection_.view_.fields) {
      const Result<const FieldRow*> row = cursor_.find(found.number);
      status = row ? Status{} : Status{row.error()};
      if (!status || (*row != nullptr && !take(**row, found, status))) {
        return false;
      }
    }
    return selection_.label_filter_.wants(found.label_set) && is_of_wanted_group(found);
  }

 private:
  [[nodiscard]] bool is_of_wanted_group(const SelectedSample& found) const {
    return selection_.options_.filter.cgroups.empty() ||
           (found.control_group != kNoRow && selection_.wants_control_group_[found.control_group]);
  }

  // What the fields of a sample name.
  bool take(const FieldRow& row, SelectedSample& found, Status& status) const {
    if (row.has(SampleField::kControlGroup)) {
      const std::uint64_t group = row.value(SampleField::kControlGroup);
      if (group >= selection_.wants_control_group_.size()) {
        status = Error(kNotInFile);
        return false;
      }
      found.control_group = static_cast<std::uint32_t>(group);
    }
    if (row.has(SampleField::kLabelSet)) {
      found.label_set = static_cast<std::uint32_t>(
          std::min(row.value(SampleField::kLabelSet), std::uint64_t{kNoRow}));
    }
    return true;
  }

  const SampleSelection& selection_;
  FieldCursor cursor_;
  std::uint64_t next_ = 0;
};

// The same as for_each_in_columns().
Status SampleSelection::sum_samples(
    const std::function<Status(std::span<const SummedSample>)>& visit) {
  std::vector<SummedSample> sums;
  return for_each_sample([&](std::span<const SelectedSample> block) {
    sums.clear();
    for (const SelectedSample& sample : block) {
      sums.push_back(summed(sample, 1, sample.context, sample.track));
      sums.back().event = choice_.joined(sample.event);
    }
    return visit(sums);
  });
}

Status SampleSelection::for_each_sample(
    const std::function<Status(std::span<const SelectedSample>)>& visit) {
  std::vector<SelectedSample> block;
  block.reserve(kBlockSamples);
  Status status;
  FieldsOfPass fields(*this);
  const SampleQuery query = numbers_ ? SampleQuery{} : query_;
  const Status read = view_.samples(query, [&](std::span<const StoredSample> samples) {
    earliest_ns_ = earliest_of(samples);
    for (const StoredSample& sample : samples) {
      if (!is_in_file(sample)) {
        status = Error(kNotInFile);
        return false;
      }
      SelectedSample found;
      if (numbers_ && !fields.next(sample, found, status)) {
        if (!status) {
          return false;
        }
        continue;
      }
      if (const ThreadState* const state = select(sample)) {
        block.push_back({{sample},
                         1,
                         labelled(state->track, found.label_set),
                         state->context,
                         found.control_group,
                         found.label_set,
                         found.number});
        note_idle(sample);
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
        note_idle(sample);
        sample.event = choice_.joined(sample.event);
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

}  // namespace stackpack::query
