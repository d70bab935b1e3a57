#include "app/analysis/call_tree.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "app/analysis/sample_counting.h"
#include "core/number_table.h"
#include "core/saturating.h"
#include "core/sort_rows.h"

namespace stackpack::app {

namespace {

constexpr std::uint32_t kRoot = 0;

struct Node {
  std::uint32_t parent = kRoot;
  std::uint32_t entity = 0;
  std::uint32_t depth = 0;
  std::uint64_t self = 0;
  std::uint64_t total = 0;
};

/// Nodes by their numbers; a parent has a smaller one than its children.
class Tree {
 public:
  Tree() : nodes_(1) {}

  // Callstacks come in the order of a file, where neighbours begin alike at the root.
  void add(std::span<const std::uint32_t> leaf_first, std::uint64_t value) {
    const std::size_t depth = leaf_first.size();
    std::size_t shared = 0;
    while (shared < std::min(depth, path_.size()) &&
           nodes_[path_[shared]].entity == leaf_first[depth - 1 - shared]) {
      ++shared;
    }
    path_.resize(shared);
    for (std::size_t level = shared; level < depth; ++level) {
      path_.push_back(
          child_of(level == 0 ? kRoot : path_.back(), leaf_first[depth - 1 - level], level));
    }
    for (const std::uint32_t node : path_) {
      core::add_saturating(nodes_[node].total, value);
    }
    core::add_saturating(nodes_[path_.empty() ? kRoot : path_.back()].self, value);
  }

  // Numbers of the largest ones, of each parent the largest child first; with their ranks.
  struct Ranked {
    std::uint32_t node = 0;
    std::size_t rank = 0;
  };
  [[nodiscard]] std::vector<Ranked> largest(std::size_t most,
                                            const query::FrameEntities& entities) const {
    std::vector<std::uint32_t> order(nodes_.size() - 1);
    std::iota(order.begin(), order.end(), 1U);
    core::sort_rows(order, [this](std::uint32_t a, std::uint32_t b) {
      return nodes_[a].total > nodes_[b].total;  // of equal ones the parent first
    });
    order.resize(most == 0 ? order.size() : std::min(most, order.size()));
    std::map<std::uint32_t, std::vector<std::uint32_t>> children;
    std::unordered_map<std::uint32_t, std::size_t> ranks;
    for (const std::uint32_t node : order) {
      ranks.emplace(node, ranks.size());
      children[nodes_[node].parent].push_back(node);
    }
    std::vector<Ranked> listed;
    std::vector<std::uint32_t> open{kRoot};
    while (!open.empty()) {
      const std::uint32_t node = open.back();
      open.pop_back();
      if (node != kRoot) {
        listed.push_back({node, ranks.at(node)});
      }
      if (const auto below = children.find(node); below != children.end()) {
        core::sort_rows(below->second, [&](std::uint32_t a, std::uint32_t b) {
          return key_of(a, entities) > key_of(b, entities);
        });
        open.insert(open.end(), below->second.begin(), below->second.end());
      }
    }
    return listed;
  }

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }

 private:
  std::uint32_t child_of(std::uint32_t parent, std::uint32_t entity, std::size_t depth) {
    // The root has no number there.
    const std::uint32_t number = children_.number((std::uint64_t{parent} << 32) | entity) + 1;
    if (number == nodes_.size()) {
      nodes_.push_back({parent, entity, static_cast<std::uint32_t>(depth), 0, 0});
    }
    return number;
  }

  using Key = std::tuple<std::uint64_t, const std::string&, const std::string&>;
  [[nodiscard]] Key key_of(std::uint32_t node, const query::FrameEntities& entities) const {
    const query::FrameEntity& entity = entities.all()[nodes_[node].entity];
    return {~nodes_[node].total, entity.name, entity.module};
  }

  std::vector<Node> nodes_;
  core::NumberTable<std::uint64_t> children_;  // (parent, entity)
  std::vector<std::uint32_t> path_;            // of the latest callstack, root first
};

}  // namespace

CallTree CallTree::first(std::size_t most) const {
  CallTree fewer{about, {}, left_out};
  for (const CallTreeRow& row : rows) {
    if (row.rank < most) {
      fewer.rows.push_back(row);
    } else {
      ++fewer.left_out;
    }
  }
  return fewer;
}

Result<CallTree> call_tree(const Reader& reader, const HotSpotQuery& query, std::size_t most) {
  HotSpotQuery folding = query;
  folding.folds_broken = query.filters.folds_broken();
  folding.folds_inlined = true;
  const auto counting = SampleCounting::open(reader, folding);
  if (!counting) {
    return counting.error();
  }
  query::GroupBy keys;
  keys.context = true;
  CallTree result;
  Tree tree;
  Status counted;
  do {
    counted = (*counting)->each_group(
        keys, [&](const query::Group& group, std::span<const std::uint32_t> stack) {
          const std::uint64_t value = (*counting)->value_of(group);
          result.about.samples += group.count;
          core::add_saturating(result.about.value, value);
          tree.add(stack, value);
        });
  } while (counted && result.about.samples == 0 && (*counting)->choose_next_event());
  if (!counted) {
    return counted.error();
  }
  (*counting)->describe(result.about);
  if (result.about.samples == 0 && result.about.idle.samples == 0) {
    return Error(kNothingSelected);
  }
  const query::FrameEntities& entities = (*counting)->entities();
  for (const Tree::Ranked& ranked : tree.largest(most, entities)) {
    const Node& node = tree.nodes()[ranked.node];
    CallTreeRow& row = result.rows.emplace_back();
    row.rank = ranked.rank;
    row.depth = node.depth;
    row.spot = spot_of(entities.all()[node.entity]);
    row.spot.self = node.self;
    row.spot.total = node.total;
  }
  result.left_out = tree.nodes().size() - 1 - result.rows.size();
  return result;
}

}  // namespace stackpack::app
