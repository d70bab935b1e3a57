#include "export/selection/sample_selection.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace stackpack::exporting {

namespace {

constexpr std::size_t kBlockSamples = 4096;

Error usage(std::string_view what) {
  return {ErrorCode::kUsage, kNoOffset, what};
}

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = a + b;
  return sum < a ? std::numeric_limits<std::uint64_t>::max() : sum;
}

}  // namespace

SampleSelection::SampleSelection(const CaptureView& view, const ExportOptions& options)
    : view_(view),
      options_(options),
      process_lives_(view.processes, ProcessKey{}),
      thread_lives_(view.threads, ThreadKey{}),
      epochs_(view.processes, view.modules) {
  query_.pid = options.pid;
  query_.tid = options.tid;
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
    return options.tid || options.from || options.to
               ? Result<std::unique_ptr<SampleSelection>>(usage(
                     "export: the file keeps counts and no samples; it cannot select by thread or "
                     "time"))
               : Result<std::unique_ptr<SampleSelection>>(std::move(selection));
  }
  if (const Status status = selection->find_start(); !status) {
    return status.error();
  }
  if (const Status status = selection->choose_times(); !status) {
    return status.error();
  }
  return selection;
}

Status SampleSelection::choose_events() {
  event_wanted_.assign(view_.events.size(), options_.event.empty());
  bool any = options_.event.empty();
  for (std::size_t i = 0; i < view_.events.size() && !options_.event.empty(); ++i) {
    event_wanted_[i] = view_.events[i].name == options_.event;
    any = any || event_wanted_[i];
  }
  return any ? Status{}
             : usage("export: the file has no event of this name; dump --events lists them");
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
  const auto absolute = [this](const ExportTime& time) {
    return time.from_start ? saturating_add(start_ns_, time.ns) : time.ns;
  };
  if (options_.from) {
    query_.from_ns = absolute(*options_.from);
  }
  if (options_.to) {
    query_.to_ns = absolute(*options_.to);
  }
  return query_.from_ns <= query_.to_ns ? Status{}
                                        : usage("export: the time range ends before it begins");
}

Status SampleSelection::check(const StoredSample& sample) const {
  if (sample.event >= view_.events.size() ||
      (sample.stack != kNoStack && sample.stack >= view_.stack_count)) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "export: a sample names what is not in the file"};
  }
  return {};
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

void SampleSelection::refresh(ThreadState& state, std::uint32_t pid, std::uint32_t tid,
                              std::uint64_t time_ns) {
  const auto process = process_lives_.find(pid, time_ns);
  const auto thread = thread_lives_.find(std::tuple(pid, tid), time_ns);
  const MappingEpochs::Epoch own = epochs_.find(pid, time_ns);
  const MappingEpochs::Epoch shared = epochs_.find(kKernelPid, time_ns);
  state.valid_from = time_ns;
  state.valid_until =
      std::min({process.valid_until, thread.valid_until, own.valid_until, shared.valid_until});

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
  state.wanted = options_.comm.empty() || process_name(row) == options_.comm ||
                 thread_name(row) == options_.comm;
}

const SampleSelection::ThreadState& SampleSelection::state_of(std::uint32_t pid, std::uint32_t tid,
                                                              std::uint64_t time_ns) {
  const std::uint64_t key = (std::uint64_t{pid} << 32) | tid;
  if (last_state_ == nullptr || last_key_ != key) {
    last_state_ = &states_[key];  // references into the map stay valid
    last_key_ = key;
  }
  if (time_ns < last_state_->valid_from || time_ns >= last_state_->valid_until) {
    refresh(*last_state_, pid, tid, time_ns);
  }
  return *last_state_;
}

bool SampleSelection::select(SelectedSample& sample) {
  if (!event_wanted_[sample.event]) {
    return false;
  }
  const ThreadState& state = state_of(sample.pid, sample.tid, sample.time_ns);
  sample.track = state.track;
  sample.context = state.context;
  return state.wanted;
}

Status SampleSelection::for_each(
    const std::function<Status(std::span<const SelectedSample>)>& visit) {
  if (!view_.has_samples) {
    return for_each_count(visit);
  }
  std::vector<SelectedSample> block;
  block.reserve(kBlockSamples);
  Status status;
  const auto flush = [&] {
    if (!block.empty()) {
      range_.first_ns =
          range_known_ ? std::min(range_.first_ns, block.front().time_ns) : block.front().time_ns;
      range_.last_ns = std::max(range_.last_ns, block.back().time_ns);
      range_known_ = true;
    }
    status = block.empty() ? Status{} : visit(block);
    block.clear();
    return status.has_value();
  };
  const Status read = view_.samples(query_, [&](std::span<const StoredSample> samples) {
    for (const StoredSample& sample : samples) {
      status = check(sample);
      if (!status) {
        return false;
      }
      SelectedSample selected{{sample}};
      if (select(selected)) {
        block.push_back(selected);
      }
      if (block.size() == kBlockSamples && !flush()) {
        return false;
      }
    }
    return true;
  });
  if (!status || !read) {
    return status ? read : status;
  }
  flush();
  return status;
}

Status SampleSelection::for_each_count(
    const std::function<Status(std::span<const SelectedSample>)>& visit) {
  std::vector<SelectedSample> block;
  for (std::size_t i = 0; i < view_.stack_counts.size(); ++i) {
    const Reader::StackCount& row = view_.stack_counts[i];
    SelectedSample sample;
    sample.time_ns = std::numeric_limits<std::uint64_t>::max() - 1;
    sample.pid = row.pid;
    sample.event = row.event;
    sample.origin = row.origin;
    sample.stack = row.stack;
    sample.weight = row.weight;
    sample.count = row.samples;
    if (const Status status = check(sample); !status) {
      return status;
    }
    if ((!options_.pid || *options_.pid == row.pid) && select(sample)) {
      block.push_back(sample);
    }
    if (block.size() == kBlockSamples || (i + 1 == view_.stack_counts.size() && !block.empty())) {
      if (const Status status = visit(block); !status) {
        return status;
      }
      block.clear();
    }
  }
  return {};
}

}  // namespace stackpack::exporting
