#include "app/merge/input_processes.h"

#include <algorithm>
#include <numeric>

#include "core/sort_rows.h"

namespace stackpack::app {

PidNumbers::Final PidNumbers::finish(std::uint32_t sources) const {
  std::vector<std::uint32_t> order(pids_.size());
  std::iota(order.begin(), order.end(), 0U);
  core::sort_rows(order, [this](std::uint32_t a, std::uint32_t b) { return pids_[a] < pids_[b]; });
  Final result;
  result.pids.resize(pids_.size());
  result.sources.resize(sources);
  std::uint32_t next = 1;
  for (const std::uint32_t number : order) {
    result.pids[number] = next++;
    result.sources[pids_[number] >> 32].push_back(static_cast<std::uint32_t>(pids_[number]));
  }
  return result;
}

InputProcesses::InputProcesses(std::uint32_t input, std::span<const MergedSource> sources,
                               bool merged, const SourceSet& set, PidNumbers& numbers)
    : sources_(sources), merged_(merged), numbers_(numbers) {
  std::uint64_t next = 1;
  for (std::uint32_t index = 0; index < sources.size(); ++index) {
    next += sources[index].pids.size();
    ends_.push_back(next);
    ranks_.push_back(set.rank(input, index));
  }
}

Result<InputProcesses::Process> InputProcesses::find(std::uint32_t pid) {
  if (latest_ != nullptr && latest_pid_ == pid) {
    return *latest_;
  }
  if (const auto known = known_.find(pid); known != known_.end()) {
    latest_ = &known->second;
    latest_pid_ = pid;
    return known->second;
  }
  std::size_t index = 0;
  std::uint32_t recorded = pid;
  if (merged_) {
    index =
        static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), pid) - ends_.begin());
    if (pid == 0 || index == ends_.size()) {
      return Error{ErrorCode::kCorrupt, kNoOffset, "spk: a process that belongs to no source"};
    }
    const std::vector<std::uint32_t>& pids = sources_[index].pids;
    recorded = pids[static_cast<std::size_t>(pid - (ends_[index] - pids.size()))];
  }
  Process process;
  if (ranks_[index]) {
    process = {true, numbers_.number(*ranks_[index], recorded), *ranks_[index]};
  }
  known_.emplace(pid, process);
  return process;
}

}  // namespace stackpack::app
