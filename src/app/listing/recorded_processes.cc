#include "app/listing/recorded_processes.h"

#include <algorithm>
#include <utility>

namespace stackpack::app {

Result<RecordedProcesses> RecordedProcesses::of(const Reader& reader) {
  Result<std::vector<MergedSource>> sources = reader.sources();
  if (!sources) {
    return sources.error();
  }
  RecordedProcesses found;
  found.sources_ = std::move(*sources);
  std::uint64_t next = 1;
  for (const MergedSource& source : found.sources_) {
    next += source.pids.size();
    found.ends_.push_back(next);
  }
  return found;
}

std::optional<RecordedProcesses::Process> RecordedProcesses::find(std::uint32_t pid) const {
  const auto source = static_cast<std::size_t>(
      std::upper_bound(ends_.begin(), ends_.end(), std::uint64_t{pid}) - ends_.begin());
  if (pid == 0 || source == ends_.size()) {
    return std::nullopt;
  }
  const std::vector<std::uint32_t>& pids = sources_[source].pids;
  return Process{static_cast<std::uint32_t>(source),
                 pids[static_cast<std::size_t>(pid - (ends_[source] - pids.size()))]};
}

}  // namespace stackpack::app
