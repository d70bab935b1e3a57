#include "app/arrow/naming_places.h"

#include <algorithm>

namespace stackpack::app {

NamingPlaces::NamingPlaces(const query::CaptureView& view, const symbols::SymbolIndex& symbols)
    : symbols_(symbols) {
  for (const Module& module : view.modules) {
    known_pids_.push_back(module.pid);
  }
  for (const Function& function : view.names.functions) {
    known_pids_.push_back(function.pid);
  }
  for (const Process& process : view.processes) {
    if (process.inherits_mappings) {
      known_pids_.push_back(process.pid);
    }
  }
  std::sort(known_pids_.begin(), known_pids_.end());
  known_pids_.erase(std::unique(known_pids_.begin(), known_pids_.end()), known_pids_.end());
  known_pids_.shrink_to_fit();
}

NamingPlaces::Keyed NamingPlaces::key_of(std::uint32_t pid, std::uint64_t time_ns) const {
  const Symbols::Epoch shared = symbols_.epochs().find(kKernelPid, time_ns);
  if (!std::binary_search(known_pids_.begin(), known_pids_.end(), pid)) {
    return {Key(kUnknownId, 0, shared.number), shared.valid_until};
  }
  const Symbols::Epoch own = symbols_.epochs().find(pid, time_ns);
  return {Key(pid, own.number, shared.number), std::min(own.valid_until, shared.valid_until)};
}

NamingPlaces::Found NamingPlaces::number(std::uint32_t pid, std::uint64_t time_ns) {
  const Keyed keyed = key_of(pid, time_ns);
  const auto [at, fresh] =
      numbers_.try_emplace(keyed.key, static_cast<std::uint32_t>(places_.size()));
  if (fresh) {
    places_.push_back({std::get<0>(keyed.key), time_ns});
  }
  return {at->second, keyed.valid_until};
}

std::optional<NamingPlaces::Found> NamingPlaces::find(std::uint32_t pid,
                                                      std::uint64_t time_ns) const {
  const Keyed keyed = key_of(pid, time_ns);
  const auto at = numbers_.find(keyed.key);
  return at == numbers_.end() ? std::nullopt : std::optional(Found{at->second, keyed.valid_until});
}

}  // namespace stackpack::app
