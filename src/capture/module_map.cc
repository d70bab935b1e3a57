#include "capture/module_map.h"

#include <algorithm>
#include <tuple>

#include "capture/rebased_addresses.h"
#include "core/sort_rows.h"

namespace stackpack::capture {

namespace {

std::uint64_t mapped_at(const Module& module) {
  return module.start_ns == kUnknownTime ? 0 : module.start_ns;
}

std::vector<std::uint32_t> in_order_of_start(std::span<const Module> modules,
                                             std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> by_start(order.begin(), order.end());
  core::sort_rows(by_start, [&](std::uint32_t a, std::uint32_t b) {
    return mapped_at(modules[a]) < mapped_at(modules[b]);
  });
  return by_start;
}

std::vector<IntervalLists::Range> ranges_of(std::span<const Module> modules,
                                            std::span<const std::uint32_t> order) {
  std::vector<IntervalLists::Range> ranges;
  ranges.reserve(order.size());
  for (const std::uint32_t index : order) {
    const std::uint64_t end = modules[index].base + modules[index].size;
    ranges.push_back({modules[index].base, end < modules[index].base ? 0 : end});
  }
  return ranges;
}

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

MappingTree::MappingTree(std::span<const Module> modules, std::span<const std::uint32_t> order)
    : modules_(modules),
      by_start_(in_order_of_start(modules, order)),
      lists_(ranges_of(modules, by_start_)) {
  fill_maxima();
}

std::uint64_t MappingTree::end_at(std::size_t level, std::size_t index) const {
  return level == 0 ? modules_[by_start_[lists_.entries()[index]]].end_ns
                    : maxima_[level - 1][index];
}

std::size_t MappingTree::size_of(std::size_t level) const {
  return level == 0 ? lists_.entries().size() : maxima_[level - 1].size();
}

void MappingTree::fill_maxima() {
  for (std::size_t level = 0; size_of(level) > 1; ++level) {
    std::vector<std::uint64_t> above((size_of(level) + kGroup - 1) / kGroup, 0);
    for (std::size_t i = 0; i < size_of(level); ++i) {
      above[i / kGroup] = std::max(above[i / kGroup], end_at(level, i));
    }
    maxima_.push_back(std::move(above));
  }
}

// The last entry in [begin, last] that ends at `time_ns` or later.
std::optional<std::size_t> MappingTree::last_alive(std::size_t begin, std::size_t last,
                                                   std::uint64_t time_ns,
                                                   std::uint64_t& steps) const {
  // Up: the rest of the group, then the groups before it, a level higher each time.
  std::size_t level = 0;
  std::size_t at = last;
  while (end_at(level, at) < time_ns) {
    ++steps;
    if (at % kGroup != 0) {
      --at;
      continue;
    }
    if (at == 0) {
      return std::nullopt;
    }
    at = at / kGroup - 1;
    ++level;
  }
  // Down: to the last one in each group.
  while (level > 0) {
    --level;
    at = std::min(at * kGroup + kGroup, size_of(level)) - 1;
    while (end_at(level, at) < time_ns) {
      ++steps;
      --at;
    }
  }
  ++steps;
  return at < begin ? std::nullopt : std::optional(at);
}

std::optional<std::uint32_t> MappingTree::find(std::uint64_t time_ns, std::uint64_t address,
                                               std::uint64_t& steps) const {
  const std::span<const std::uint32_t> entries = lists_.entries();
  std::optional<std::uint32_t> best;  // position in by_start_
  lists_.each_list(address, [&](std::size_t begin, std::size_t end) {
    ++steps;
    const auto list = entries.subspan(begin, end - begin);
    const auto begun = std::upper_bound(list.begin(), list.end(), time_ns,
                                        [&](std::uint64_t time, std::uint32_t position) {
                                          ++steps;
                                          return time < mapped_at(modules_[by_start_[position]]);
                                        });
    if (begun == list.begin()) {
      return;
    }
    const auto last = begin + static_cast<std::size_t>(begun - list.begin()) - 1;
    const std::optional<std::size_t> found = last_alive(begin, last, time_ns, steps);
    if (found && (!best || entries[*found] > *best)) {
      best = entries[*found];
    }
  });
  return best ? std::optional(by_start_[*best]) : std::nullopt;
}

ModuleMap::ModuleMap(std::span<const Process> processes, std::span<const Module> modules)
    : processes_(processes), modules_(modules), lives_(processes) {
  for (std::uint32_t i = 0; i < modules.size(); ++i) {
    if (modules[i].size != 0) {
      by_base_.push_back(i);
    }
  }
  core::sort_rows(by_base_, [&](std::uint32_t a, std::uint32_t b) {
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
  plant_trees();
}

// A look-up that ends at image i goes back to the first one whose `highest_` reaches the base of i,
// in the worst case.
void ModuleMap::plant_trees() {
  for (std::size_t begin = 0, end = 0; begin < by_base_.size(); begin = end) {
    const std::uint32_t pid = modules_[by_base_[begin]].pid;
    std::size_t most = 0;
    for (std::size_t reach = begin; end < by_base_.size() && modules_[by_base_[end]].pid == pid;
         ++end) {
      while (highest_[reach] < modules_[by_base_[end]].base) {
        ++reach;
      }
      most = std::max(most, end - reach + 1);
    }
    if (most > kMostOverlapping) {
      trees_.try_emplace(pid, modules_, std::span(by_base_).subspan(begin, end - begin));
    }
  }
}

std::optional<ModuleMap::Hit> ModuleMap::find_in(std::uint32_t pid, std::uint64_t time_ns,
                                                 std::uint64_t address,
                                                 std::uint64_t& steps) const {
  if (!trees_.empty()) [[unlikely]] {
    if (const auto tree = trees_.find(pid); tree != trees_.end()) {
      const std::optional<std::uint32_t> found = tree->second.find(time_ns, address, steps);
      return found ? std::optional(hit_of(*found, address)) : std::nullopt;
    }
  }
  auto after =
      std::upper_bound(by_base_.begin(), by_base_.end(), std::tuple(pid, address),
                       [&](const auto& key, std::uint32_t index) {
                         return key < std::tuple(modules_[index].pid, modules_[index].base);
                       });
  const Module* best = nullptr;
  std::uint32_t best_index = 0;
  for (auto at = static_cast<std::size_t>(after - by_base_.begin()); at-- > 0;) {
    const Module& module = modules_[by_base_[at]];
    ++steps;
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
  return hit_of(best_index, address);
}

// Images of the guest share a process with those of the program that runs it, which has none in the
// upper half of the addresses.
std::optional<ModuleMap::Hit> ModuleMap::find_in_guest(std::uint32_t pid, std::uint64_t time_ns,
                                                       std::uint64_t address,
                                                       std::uint64_t& steps) const {
  constexpr std::uint32_t kAnyGuest = 0;
  if ((address >> 63) == 0) {
    return std::nullopt;
  }
  const std::optional<Hit> hit = find_in(pid, time_ns, address, steps);
  return hit ? hit : find_in(kAnyGuest, time_ns, address, steps);
}

ModuleMap::Hit ModuleMap::hit_of(std::uint32_t index, std::uint64_t address) const {
  return {index, address - modules_[index].base + modules_[index].file_offset};
}

std::optional<ModuleMap::Hit> ModuleMap::find(std::uint32_t pid, std::uint64_t time_ns,
                                              const Frame& frame, std::uint64_t* steps) const {
  std::uint64_t uncounted = 0;
  std::uint64_t& looked_at = steps != nullptr ? *steps : uncounted;
  switch (frame.mode) {
    case FrameMode::kKernel:
      return find_in(kKernelPid, time_ns, frame.address, looked_at);
    case FrameMode::kUser:
    case FrameMode::kUnknown:
      break;
    case FrameMode::kGuestKernel:
      return find_in_guest(pid, time_ns, frame.address, looked_at);
    default:
      return std::nullopt;  // mappings of a guest's programs are not in a capture of its host
  }
  if (RebasedAddresses::in_range(frame.address)) {
    return find_in(kKernelPid, time_ns, frame.address, looked_at);
  }
  for (int forks = 0; forks < kMaxForks && pid != kKernelPid; ++forks) {
    if (const auto hit = find_in(pid, time_ns, frame.address, looked_at)) {
      return hit;
    }
    const std::uint32_t life = lives_.find(pid, time_ns).row;
    if (life == kNoRow || !processes_[life].inherits_mappings) {
      break;
    }
    time_ns = start_of(processes_[life].start_ns);
    pid = processes_[life].parent_pid;
  }
  return frame.mode == FrameMode::kUnknown ? find_in(kKernelPid, time_ns, frame.address, looked_at)
                                           : std::nullopt;
}

}  // namespace stackpack::capture
