// What a selection says of its samples, and which columns and control groups it asks for.
#include <algorithm>
#include <charconv>

#include "query/name_pattern.h"
#include "query/selection/sample_selection.h"

namespace stackpack::query {

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

// The columns that say whether a sample is wanted, and what its addresses mean.
std::uint32_t SampleSelection::columns_of_filter() const {
  std::uint32_t columns = kTimeColumn | kPidColumn | kTidColumn;
  columns |= module_filter_.active() ? kStackColumn : 0U;
  columns |= view_.events.size() > 1 ? kEventColumn : 0U;
  columns |= options_.filter.cpu ? kCpuColumn : 0U;
  columns |= leaves_idle_out_ ? kFlagsColumn : 0U;
  return columns;
}

// Which control groups are wanted: by path, or its last part.
void SampleSelection::want_control_groups() {
  const std::vector<std::string>& patterns = options_.filter.cgroups;
  for (const ControlGroup& group : view_.control_groups) {
    const std::string title = control_group_title(group);
    const std::string_view last = std::string_view(title).substr(title.find_last_of('/') + 1);
    wants_control_group_.push_back(patterns.empty() || fits_any(title, patterns) ||
                                   fits_any(last, patterns));
  }
}

// The track of a sample with those labels.
std::uint32_t SampleSelection::labelled(std::uint32_t track, std::uint32_t label_set) {
  if (!splits_by_labels_ || label_set == kNoRow) {
    return track;
  }
  Track with_labels = tracks_[track];
  with_labels.label_set = label_set;
  return number_of(with_labels);
}

// Where counts are kept, check_counts() has refused labels.
Status SampleSelection::want_labels() {
  Result<LabelFilter> filter = LabelFilter::create(view_, options_.filter.labels);
  if (!filter) {
    return filter.error();
  }
  label_filter_ = std::move(*filter);
  return {};
}

bool SampleSelection::is_queried(const StoredSample& sample) const {
  return sample.time_ns >= query_.from_ns && sample.time_ns <= query_.to_ns &&
         (!query_.pid || *query_.pid == sample.pid) && (!query_.tid || *query_.tid == sample.tid);
}

}  // namespace stackpack::query
