#include "capture/mapping_tree.h"

#include <algorithm>
#include <bit>

namespace stackpack::capture {

namespace {

std::uint64_t mapped_at(const Module& module) {
  return module.start_ns == kUnknownTime ? 0 : module.start_ns;
}

// The first address after the mapping; 0 when it reaches to the end of all addresses.
std::uint64_t end_address(const Module& module) {
  const std::uint64_t end = module.base + module.size;
  return end < module.base ? 0 : end;
}

}  // namespace

MappingTree::MappingTree(std::span<const Module> modules, std::span<const std::uint32_t> order)
    : modules_(modules), by_start_(order.begin(), order.end()) {
  std::stable_sort(by_start_.begin(), by_start_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return mapped_at(modules[a]) < mapped_at(modules[b]);
  });
  for (const std::uint32_t index : by_start_) {
    cuts_.push_back(modules[index].base);
    if (end_address(modules[index]) != 0) {
      cuts_.push_back(end_address(modules[index]));
    }
  }
  std::sort(cuts_.begin(), cuts_.end());
  cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  leaves_ = std::bit_ceil(cuts_.size());

  list_begin_.assign(2 * leaves_ + 1, 0);
  for (const std::uint32_t index : by_start_) {
    for_each_node(modules[index], [this](std::size_t node) { ++list_begin_[node + 1]; });
  }
  for (std::size_t node = 1; node < list_begin_.size(); ++node) {
    list_begin_[node] += list_begin_[node - 1];
  }
  entries_.resize(list_begin_.back());
  std::vector<std::size_t> next(list_begin_.begin(), list_begin_.end() - 1);
  for (std::uint32_t position = 0; position < by_start_.size(); ++position) {
    for_each_node(modules[by_start_[position]],
                  [&](std::size_t node) { entries_[next[node]++] = position; });
  }
  fill_maxima();
}

// Calls `visit` with the nodes that together make up the range of a mapping.
template <typename Visit>
void MappingTree::for_each_node(const Module& module, const Visit& visit) const {
  const auto leaf_of = [this](std::uint64_t address) {
    return leaves_ + static_cast<std::size_t>(
                         std::lower_bound(cuts_.begin(), cuts_.end(), address) - cuts_.begin());
  };
  std::size_t left = leaf_of(module.base);
  std::size_t right = end_address(module) == 0 ? 2 * leaves_ : leaf_of(end_address(module));
  for (; left < right; left /= 2, right /= 2) {
    if (left % 2 == 1) {
      visit(left++);
    }
    if (right % 2 == 1) {
      visit(--right);
    }
  }
}

std::uint64_t MappingTree::end_at(std::size_t level, std::size_t index) const {
  return level == 0 ? modules_[by_start_[entries_[index]]].end_ns : maxima_[level - 1][index];
}

std::size_t MappingTree::size_of(std::size_t level) const {
  return level == 0 ? entries_.size() : maxima_[level - 1].size();
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
  const auto after = std::upper_bound(cuts_.begin(), cuts_.end(), address);
  if (after == cuts_.begin()) {
    return std::nullopt;
  }
  std::optional<std::uint32_t> best;  // position in by_start_
  const auto leaf = static_cast<std::size_t>(after - cuts_.begin()) - 1;
  for (std::size_t node = leaves_ + leaf; node != 0; node /= 2) {
    ++steps;
    const std::size_t begin = list_begin_[node];
    const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(list_begin_[node + 1]);
    const auto begun =
        std::upper_bound(first, end, time_ns, [&](std::uint64_t time, std::uint32_t position) {
          ++steps;
          return time < mapped_at(modules_[by_start_[position]]);
        });
    if (begun == first) {
      continue;
    }
    const auto last = begin + static_cast<std::size_t>(begun - first) - 1;
    const std::optional<std::size_t> found = last_alive(begin, last, time_ns, steps);
    if (found && (!best || entries_[*found] > *best)) {
      best = entries_[*found];
    }
  }
  return best ? std::optional(by_start_[*best]) : std::nullopt;
}

}  // namespace stackpack::capture
