#include "app/unwind/address_spaces.h"

#include <algorithm>

namespace stackpack::app {

AddressSpaces::AddressSpaces(std::span<const Process> processes, std::span<const Module> modules) {
  for (const Process& process : processes) {
    boundaries_.emplace_back(process.pid, 0);
    if (process.start_ns != kUnknownTime) {
      boundaries_.emplace_back(process.pid, process.start_ns);
    }
  }
  for (const Module& module : modules) {
    if (module.pid == kKernelPid) {
      continue;
    }
    boundaries_.emplace_back(module.pid, 0);
    if (module.start_ns != kUnknownTime) {
      boundaries_.emplace_back(module.pid, module.start_ns);
    }
    if (module.end_ns < kUnknownTime - 1) {  // the last time at which it is there
      boundaries_.emplace_back(module.pid, module.end_ns + 1);
    }
  }
  std::sort(boundaries_.begin(), boundaries_.end());
  boundaries_.erase(std::unique(boundaries_.begin(), boundaries_.end()), boundaries_.end());
  boundaries_.shrink_to_fit();
}

std::uint32_t AddressSpaces::find(std::uint32_t pid, std::uint64_t time_ns) {
  Recent& recent = recent_[pid % kRecent];
  if (recent.pid == pid && recent.from_ns <= time_ns && time_ns < recent.until_ns) [[likely]] {
    return recent.space;
  }
  const auto after =
      std::upper_bound(boundaries_.begin(), boundaries_.end(), std::pair(pid, time_ns));
  if (after == boundaries_.begin() || (after - 1)->first != pid) {
    return kNone;
  }
  const bool bounded = after != boundaries_.end() && after->first == pid;
  recent = {pid, static_cast<std::uint32_t>(after - boundaries_.begin()), (after - 1)->second,
            bounded ? after->second : ~std::uint64_t{0}};
  return recent.space;
}

}  // namespace stackpack::app
