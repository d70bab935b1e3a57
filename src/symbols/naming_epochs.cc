#include "symbols/naming_epochs.h"

#include <algorithm>

namespace stackpack::symbols {

NamingEpochs::NamingEpochs(std::span<const Process> processes, std::span<const Module> modules,
                           const RangeIndex<Function>& functions) {
  for (const Process& process : processes) {
    if (process.start_ns != kUnknownTime) {
      boundaries_.emplace_back(process.pid, process.start_ns);
    }
  }
  for (const Module& module : modules) {
    if (module.start_ns != kUnknownTime) {
      boundaries_.emplace_back(module.pid, module.start_ns);
    }
    if (module.end_ns < kUnknownTime - 1) {  // the last time at which it is there
      boundaries_.emplace_back(module.pid, module.end_ns + 1);
    }
  }
  functions.each_shared([this](const Function& function) {
    if (function.born_ns != kUnknownTime && function.owner != FunctionOwner::kImage) {
      boundaries_.emplace_back(function.pid, function.born_ns);
    }
  });
  std::sort(boundaries_.begin(), boundaries_.end());
  boundaries_.erase(std::unique(boundaries_.begin(), boundaries_.end()), boundaries_.end());
  boundaries_.shrink_to_fit();
}

Symbols::Epoch NamingEpochs::find(std::uint32_t pid, std::uint64_t time_ns) const {
  const auto after =
      std::upper_bound(boundaries_.begin(), boundaries_.end(), std::pair(pid, time_ns));
  Symbols::Epoch epoch;
  epoch.number = static_cast<std::uint64_t>(after - boundaries_.begin());
  if (after != boundaries_.end() && after->first == pid) {
    epoch.valid_until = after->second;
  }
  return epoch;
}

}  // namespace stackpack::symbols
