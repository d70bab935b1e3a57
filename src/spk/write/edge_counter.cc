#include "spk/write/edge_counter.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/radix_sort.h"
#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

// An edge as a number: 29 bits of the row, which may be the root's, 29 of the child, the first bit.
constexpr unsigned kChildBit = 1;
constexpr unsigned kRowBit = 30;
static_assert(kMaxFrames < std::uint64_t{1} << (kRowBit - kChildBit));

// As many edges may be counted as arrive at a time. At the worst moment there are the arrived ones,
// 8 bytes each, those counted before, and these and the arrived ones counted together, 16 bytes
// each: 56 bytes.
constexpr std::uint64_t kBytesPerEdge = 64;
constexpr std::uint64_t kLeastEdges = 512;
// More at a time are not sorted faster.
constexpr std::uint64_t kMostArrived = std::uint64_t{1} << 22;

bool before(const CountedEdge& a, const CountedEdge& b) {
  return a.row != b.row ? a.row < b.row : a.child < b.child;
}

CountedEdge edge_of(std::uint64_t number) {
  constexpr std::uint64_t kChildMask = (std::uint64_t{1} << (kRowBit - kChildBit)) - 1;
  return {static_cast<std::uint32_t>(number >> kRowBit),
          static_cast<std::uint32_t>(number >> kChildBit & kChildMask),
          static_cast<std::uint32_t>(number & 1)};
}

// Adds an edge that does not come before the last one.
void add_to(std::vector<CountedEdge>& sorted, const CountedEdge& edge) {
  if (!sorted.empty() && !before(sorted.back(), edge)) {
    sorted.back().first_count += edge.first_count;
  } else {
    sorted.push_back(edge);
  }
}

}  // namespace

EdgeCounter::EdgeCounter(std::string scratch_directory, std::uint64_t memory_bytes)
    : most_arrived_(static_cast<std::size_t>(
          memory_bytes == 0 ? kMostArrived
                            : std::clamp(memory_bytes / kBytesPerEdge, kLeastEdges, kMostArrived))),
      most_counted_(memory_bytes == 0 ? std::numeric_limits<std::size_t>::max()
                                      : static_cast<std::size_t>(
                                            std::max(kLeastEdges, memory_bytes / kBytesPerEdge))),
      runs_(std::move(scratch_directory), memory_bytes / 2) {}

Status EdgeCounter::add(std::uint32_t row, std::uint32_t child, bool first) {
  if (arrived_.size() == most_arrived_) {
    count_arrived();
    if (counted_.size() > most_counted_) {
      const Status spilled = runs_.add(counted_);
      counted_.clear();
      if (!spilled) {
        return spilled;
      }
    }
  }
  if (arrived_.capacity() == 0 && most_arrived_ < kMostArrived) {
    arrived_.reserve(most_arrived_);  // the whole share at once, as growing would pass it
  }
  arrived_.push_back(std::uint64_t{row} << kRowBit | std::uint64_t{child} << kChildBit |
                     (first ? 1U : 0U));
  return {};
}

void EdgeCounter::count_arrived() {
  {
    std::vector<std::uint64_t> scratch;
    core::sort_numbers(arrived_, scratch);
  }
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < arrived_.size(); ++i) {
    distinct += i == 0 || arrived_[i] >> kChildBit != arrived_[i - 1] >> kChildBit ? 1U : 0U;
  }
  std::vector<CountedEdge> all;
  all.reserve(counted_.size() + distinct);
  auto old = counted_.cbegin();
  for (const std::uint64_t number : arrived_) {
    const CountedEdge edge = edge_of(number);
    for (; old != counted_.cend() && before(*old, edge); ++old) {
      add_to(all, *old);
    }
    add_to(all, edge);
  }
  for (; old != counted_.cend(); ++old) {
    add_to(all, *old);
  }
  arrived_.clear();
  counted_ = std::move(all);
}

std::uint64_t EdgeCounter::most_edges() {
  count_arrived();
  return counted_.size() + runs_.rows();
}

Status EdgeCounter::for_each(const std::function<Status(const CountedEdge&)>& visit) {
  count_arrived();
  arrived_ = {};
  if (runs_.empty()) {
    for (const CountedEdge& edge : counted_) {
      if (const Status visited = visit(edge); !visited) {
        return visited;
      }
    }
    return {};
  }
  if (const Status added = runs_.add(counted_); !added) {
    return added;
  }
  counted_ = {};
  const auto add_up = [](CountedEdge& sum, const CountedEdge& edge) {
    sum.first_count += edge.first_count;
  };
  return runs_.merge(before, add_up, visit);
}

}  // namespace stackpack::spk
