#include "app/branches/weighted_chains.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "capture/branch_order.h"
#include "core/sort_rows.h"

namespace stackpack::app {

namespace {

using capture::saturating_sum;

constexpr std::uint32_t kNoItem = ~std::uint32_t{0};
constexpr double kMostColder = 8;  // how many times colder a callee may make its caller's cluster

// Lists of items that are joined end to end.
class ItemLists {
 public:
  explicit ItemLists(std::span<const ClusterItem> items)
      : parent_(items.size()),
        next_(items.size(), kNoItem),
        head_(items.size()),
        tail_(items.size()),
        sums_(items.begin(), items.end()) {
    std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
    head_ = tail_ = parent_;
  }

  std::uint32_t list_of(std::uint32_t item) {
    while (parent_[item] != item) {
      parent_[item] = parent_[parent_[item]];
      item = parent_[item];
    }
    return item;
  }
  [[nodiscard]] std::uint32_t head(std::uint32_t list) const { return head_[list]; }
  [[nodiscard]] std::uint32_t tail(std::uint32_t list) const { return tail_[list]; }
  [[nodiscard]] const ClusterItem& sum(std::uint32_t list) const { return sums_[list]; }

  void join(std::uint32_t first, std::uint32_t second) {
    next_[tail_[first]] = head_[second];
    tail_[first] = tail_[second];
    parent_[second] = first;
    sums_[first].runs = saturating_sum(sums_[first].runs, sums_[second].runs);
    sums_[first].bytes = saturating_sum(sums_[first].bytes, sums_[second].bytes);
  }

  // All items, list by list: `first` first, then by runs a byte.
  std::vector<std::uint32_t> ordered(std::uint32_t first) {
    std::vector<std::uint32_t> lists;
    for (std::uint32_t item = 0; item < parent_.size(); ++item) {
      if (parent_[item] == item) {
        lists.push_back(item);
      }
    }
    core::sort_rows(lists, [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(a != first, -density(sums_[a]), head_[a]) <
             std::tuple(b != first, -density(sums_[b]), head_[b]);
    });
    std::vector<std::uint32_t> items;
    items.reserve(parent_.size());
    for (const std::uint32_t list : lists) {
      for (std::uint32_t item = head_[list]; item != kNoItem; item = next_[item]) {
        items.push_back(item);
      }
    }
    return items;
  }

  static double density(const ClusterItem& item) {
    return static_cast<double>(item.runs) /
           static_cast<double>(std::max<std::uint64_t>(item.bytes, 1));
  }

 private:
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> head_;  // by list
  std::vector<std::uint32_t> tail_;
  std::vector<ClusterItem> sums_;
};

// Adds up what has the same ends, and puts the heaviest first.
void sum_up_edges(std::vector<WeightedEdge>& edges) {
  core::sort_rows(edges, [](const WeightedEdge& a, const WeightedEdge& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  std::size_t kept = 0;
  for (const WeightedEdge& edge : edges) {
    if (kept != 0 && edges[kept - 1].from == edge.from && edges[kept - 1].to == edge.to) {
      edges[kept - 1].weight = saturating_sum(edges[kept - 1].weight, edge.weight);
    } else {
      edges[kept++] = edge;
    }
  }
  edges.resize(kept);
  core::sort_rows(edges,
                  [](const WeightedEdge& a, const WeightedEdge& b) { return a.weight > b.weight; });
}

}  // namespace

std::vector<std::uint32_t> chain_blocks(std::span<const ClusterItem> items,
                                        std::vector<WeightedEdge> edges, std::uint32_t entry) {
  sum_up_edges(edges);
  ItemLists chains(items);
  for (const WeightedEdge& edge : edges) {
    const std::uint32_t first = chains.list_of(edge.from);
    const std::uint32_t second = chains.list_of(edge.to);
    if (first != second && chains.tail(first) == edge.from && chains.head(second) == edge.to &&
        edge.to != entry) {
      chains.join(first, second);
    }
  }
  return chains.ordered(chains.list_of(entry));
}

std::vector<std::uint32_t> cluster_calls(std::span<const ClusterItem> items,
                                         std::vector<WeightedEdge> calls,
                                         std::uint64_t most_bytes) {
  sum_up_edges(calls);
  std::vector<std::uint32_t> heaviest_caller(items.size(), kNoItem);
  for (const WeightedEdge& call : calls) {
    if (call.from != call.to && heaviest_caller[call.to] == kNoItem) {
      heaviest_caller[call.to] = call.from;
    }
  }
  std::vector<std::uint32_t> hottest(items.size());
  std::iota(hottest.begin(), hottest.end(), std::uint32_t{0});
  core::sort_rows(hottest, [&items](std::uint32_t a, std::uint32_t b) {
    return std::tuple(-ItemLists::density(items[a]), a) <
           std::tuple(-ItemLists::density(items[b]), b);
  });
  ItemLists clusters(items);
  for (const std::uint32_t callee : hottest) {
    if (heaviest_caller[callee] == kNoItem) {
      continue;
    }
    const std::uint32_t second = clusters.list_of(callee);
    const std::uint32_t first = clusters.list_of(heaviest_caller[callee]);
    if (first == second || clusters.head(second) != callee) {
      continue;
    }
    const ClusterItem& a = clusters.sum(first);
    const ClusterItem& b = clusters.sum(second);
    const ClusterItem both{saturating_sum(a.runs, b.runs), saturating_sum(a.bytes, b.bytes)};
    if (both.bytes <= most_bytes &&
        ItemLists::density(both) * kMostColder >= ItemLists::density(a)) {
      clusters.join(first, second);
    }
  }
  return clusters.ordered(kNoItem);
}

}  // namespace stackpack::app
