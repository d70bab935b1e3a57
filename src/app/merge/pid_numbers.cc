#include "app/merge/pid_numbers.h"

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

}  // namespace stackpack::app
