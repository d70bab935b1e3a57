#include "capture/mapping_tree.h"

#include <algorithm>

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

}  // namespace stackpack::capture
