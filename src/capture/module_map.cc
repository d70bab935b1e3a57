#include "capture/module_map.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace stackpack::capture {

namespace {

constexpr int kMaxForks = 64;  // how far a look-up climbs from child to parent

std::uint64_t start_of(std::uint64_t time_ns) {
  return time_ns == kUnknownTime ? 0 : time_ns;
}

std::uint64_t last_address_of(const Module& module) {
  const std::uint64_t last = module.base + (module.size - 1);
  return last < module.base ? ~std::uint64_t{0} : last;
}

bool alive_at(std::uint64_t start_ns, std::uint64_t end_ns, std::uint64_t time_ns) {
  return start_of(start_ns) <= time_ns && time_ns <= end_ns;
}

}  // namespace

ModuleMap::ModuleMap(std::span<const Process> processes, std::span<const Module> modules)
    : processes_(processes), modules_(modules) {
  by_pid_.resize(processes.size());
  std::iota(by_pid_.begin(), by_pid_.end(), 0U);
  std::stable_sort(by_pid_.begin(), by_pid_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(processes[a].pid, start_of(processes[a].start_ns)) <
           std::tuple(processes[b].pid, start_of(processes[b].start_ns));
  });
  for (std::uint32_t i = 0; i < modules.size(); ++i) {
    if (modules[i].size != 0) {
      by_base_.push_back(i);
    }
  }
  std::stable_sort(by_base_.begin(), by_base_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(modules[a].pid, modules[a].base) <
           std::tuple(modules[b].pid, modules[b].base);
  });
  highest_.resize(by_base_.size());
  for (std::size_t i = 0; i < by_base_.size(); ++i) {
    const Module& module = modules[by_base_[i]];
    const bool first = i == 0 || modules[by_base_[i - 1]].pid != module.pid;
    highest_[i] =
        first ? last_address_of(module) : std::max(highest_[i - 1], last_address_of(module));
  }
}

std::optional<ModuleMap::Hit> ModuleMap::find_in(std::uint32_t pid, std::uint64_t time_ns,
                                                 std::uint64_t address) const {
  auto after =
      std::upper_bound(by_base_.begin(), by_base_.end(), std::tuple(pid, address),
                       [&](const auto& key, std::uint32_t index) {
                         return key < std::tuple(modules_[index].pid, modules_[index].base);
                       });
  const Module* best = nullptr;
  std::uint32_t best_index = 0;
  for (auto at = static_cast<std::size_t>(after - by_base_.begin()); at-- > 0;) {
    const Module& module = modules_[by_base_[at]];
    if (module.pid != pid || highest_[at] < address) {
      break;
    }
    if (last_address_of(module) >= address && alive_at(module.start_ns, module.end_ns, time_ns) &&
        (best == nullptr || start_of(module.start_ns) > start_of(best->start_ns))) {
      best = &module;
      best_index = by_base_[at];
    }
  }
  if (best == nullptr) {
    return std::nullopt;
  }
  return Hit{best_index, address - best->base + best->file_offset};
}

const Process* ModuleMap::process_at(std::uint32_t pid, std::uint64_t time_ns) const {
  const auto after = std::upper_bound(
      by_pid_.begin(), by_pid_.end(), std::tuple(pid, time_ns),
      [&](const auto& key, std::uint32_t index) {
        return key < std::tuple(processes_[index].pid, start_of(processes_[index].start_ns));
      });
  if (after == by_pid_.begin() || processes_[*(after - 1)].pid != pid) {
    return nullptr;
  }
  return &processes_[*(after - 1)];
}

std::optional<ModuleMap::Hit> ModuleMap::find(std::uint32_t pid, std::uint64_t time_ns,
                                              const Frame& frame) const {
  switch (frame.mode) {
    case FrameMode::kKernel:
      return find_in(kKernelPid, time_ns, frame.address);
    case FrameMode::kUser:
    case FrameMode::kUnknown:
      break;
    default:
      return std::nullopt;  // a guest's mappings are not in a capture of its host
  }
  for (int forks = 0; forks < kMaxForks && pid != kKernelPid; ++forks) {
    if (const auto hit = find_in(pid, time_ns, frame.address)) {
      return hit;
    }
    const Process* process = process_at(pid, time_ns);
    if (process == nullptr || !process->inherits_mappings) {
      break;
    }
    time_ns = start_of(process->start_ns);
    pid = process->parent_pid;
  }
  return frame.mode == FrameMode::kUnknown ? find_in(kKernelPid, time_ns, frame.address)
                                           : std::nullopt;
}

}  // namespace stackpack::capture
