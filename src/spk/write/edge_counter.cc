#include "spk/write/edge_counter.h"

#include <algorithm>
#include <utility>

namespace stackpack::spk {

namespace {

constexpr std::uint64_t kLeastEdges = 512;

std::uint64_t key_of(std::uint32_t row, std::uint32_t child) {
  return std::uint64_t{row} << 32 | child;
}

bool before(const CountedEdge& a, const CountedEdge& b) {
  return a.row != b.row ? a.row < b.row : a.child < b.child;
}

}  // namespace

EdgeCounter::EdgeCounter(std::string scratch_directory, std::uint64_t memory_bytes)
    : most_edges_(memory_bytes == 0 ? ~std::uint64_t{0}
                                    : std::max(kLeastEdges, memory_bytes / kBytesPerEdge)),
      runs_(std::move(scratch_directory), memory_bytes / 2) {}

Status EdgeCounter::add(std::uint32_t row, std::uint32_t child, bool first) {
  const std::uint32_t number = edges_.number(key_of(row, child));
  if (number == counts_.size()) {
    counts_.push_back(0);
  }
  counts_[number] += first ? 1 : 0;
  return edges_.size() < most_edges_ ? Status{} : runs_.add(take_sorted());
}

std::vector<CountedEdge> EdgeCounter::take_sorted() {
  std::vector<CountedEdge> sorted;
  sorted.reserve(edges_.size());
  for (std::uint32_t i = 0; i < edges_.size(); ++i) {
    const std::uint64_t key = edges_[i];
    sorted.push_back(
        {static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key), counts_[i]});
  }
  edges_.release();
  counts_ = {};
  std::sort(sorted.begin(), sorted.end(), before);
  return sorted;
}

Status EdgeCounter::for_each(const std::function<Status(const CountedEdge&)>& visit) {
  if (runs_.empty()) {
    for (const CountedEdge& edge : take_sorted()) {
      if (const Status visited = visit(edge); !visited) {
        return visited;
      }
    }
    return {};
  }
  if (const Status added = runs_.add(take_sorted()); !added) {
    return added;
  }
  const auto add_up = [](CountedEdge& sum, const CountedEdge& edge) {
    sum.first_count += edge.first_count;
  };
  return runs_.merge(before, add_up, visit);
}

}  // namespace stackpack::spk
