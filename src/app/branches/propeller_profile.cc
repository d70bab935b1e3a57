#include "app/branches/propeller_profile.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/branches/weighted_chains.h"
#include "capture/branch_order.h"
#include "core/sort_rows.h"

namespace stackpack::app {

namespace {

using capture::saturating_sum;
using symbolize::BlockMap;
using symbolize::CodeBlock;
using symbolize::SymbolTable;
using symbolize::TableSymbol;

constexpr std::uint64_t kMostClusterBytes = std::uint64_t{1} << 20;

// Names of functions by address, those that several functions have left out: a profile knows
// functions by name alone.
std::unordered_map<std::uint64_t, std::vector<std::string_view>> names_by_address(
    const SymbolTable& symbols) {
  std::unordered_map<std::string_view, std::pair<std::uint64_t, bool>> owners;
  const auto is_function = [](const TableSymbol& symbol) {
    return symbol.kind == symbolize::SymbolKind::kFunction;
  };
  for (const TableSymbol& symbol : symbols.symbols()) {
    if (is_function(symbol)) {
      auto& owner = owners.try_emplace(symbols.name_of(symbol), symbol.address, true).first->second;
      owner.second = owner.second && owner.first == symbol.address;
    }
  }
  std::unordered_map<std::uint64_t, std::vector<std::string_view>> names;
  for (const TableSymbol& symbol : symbols.symbols()) {
    const std::string_view name = symbols.name_of(symbol);
    // A name ends at a space.
    if (!is_function(symbol) || name.empty() || name.find_first_of(" \t\n") != name.npos) {
      continue;
    }
    auto& owner = owners.at(name);
    if (owner.second) {
      names[symbol.address].push_back(name);
      owner.second = false;  // once
    }
  }
  return names;
}

class Layout {
 public:
  Layout(const BlockMap& map, const SymbolTable& symbols)
      : map_(map), names_(names_by_address(symbols)), by_address_(map.blocks.size()) {
    std::iota(by_address_.begin(), by_address_.end(), std::uint32_t{0});
    core::sort_rows(by_address_, [this](std::uint32_t a, std::uint32_t b) {
      return std::tuple(map_.blocks[a].address, map_.blocks[a].bytes, a) <
             std::tuple(map_.blocks[b].address, map_.blocks[b].bytes, b);
    });
    runs_.resize(map.blocks.size() + 1);
    falls_.resize(map.blocks.size() + 1);
  }

  PropellerProfile run(const PlacedBranches& placed) {
    for (const auto& [range, count] : placed.ranges) {
      add_range(range.first, range.second, count);
    }
    for (const auto& [ends, sums] : placed.edges) {
      if (ends.first && ends.second) {
        add_branch(*ends.first, *ends.second, sums.count);
      }
    }
    add_falls();
    order_functions();
    write();
    return std::move(profile_);
  }

 private:
  struct HotFunction {
    std::vector<WeightedEdge> edges;  // between blocks
    std::vector<std::uint32_t> blocks;
    std::uint64_t runs = 0;  // of all of its blocks
    std::uint64_t bytes = 0;
  };

  // The place among blocks by address of the one that has the address.
  [[nodiscard]] std::optional<std::size_t> find(std::uint64_t address) const {
    const auto after = std::upper_bound(
        by_address_.begin(), by_address_.end(), address,
        [this](std::uint64_t at, std::uint32_t block) { return at < map_.blocks[block].address; });
    if (after == by_address_.begin()) {
      return std::nullopt;
    }
    const CodeBlock& block = map_.blocks[*(after - 1)];
    return address - block.address < block.bytes
               ? std::optional(static_cast<std::size_t>(after - by_address_.begin() - 1))
               : std::nullopt;
  }
  [[nodiscard]] const CodeBlock& at(std::size_t place) const {
    return map_.blocks[by_address_[place]];
  }

  // Sums of steps, added up once all ranges are there: however long they are, one costs two steps.
  void add_range(std::uint64_t begin, std::uint64_t end, std::uint64_t count) {
    const auto first = find(begin);
    const auto last = find(end);
    if (!first || !last || *first > *last || at(*first).function != at(*last).function) {
      profile_.outside = saturating_sum(profile_.outside, count);
      return;
    }
    runs_[*first] += count;
    runs_[*last + 1] -= count;
    falls_[*first] += count;
    falls_[*last] -= count;
  }

  void add_branch(std::uint64_t from, std::uint64_t to, std::uint64_t count) {
    const auto source = find(from);
    const auto target = find(to);
    if (!source || !target) {
      profile_.outside = saturating_sum(profile_.outside, count);
      return;
    }
    const CodeBlock& a = at(*source);
    const CodeBlock& b = at(*target);
    if (a.function != b.function) {
      if (map_.entries[b.function] == to) {
        calls_.push_back({a.function, b.function, count});
      }
    } else if (b.address == to) {
      hot_[a.function].edges.push_back({by_address_[*source], by_address_[*target], count});
    }
  }

  void add_falls() {
    std::uint64_t runs = 0;
    std::uint64_t falls = 0;
    for (std::size_t i = 0; i < by_address_.size(); ++i) {
      runs += runs_[i];
      falls += falls_[i];
      if (runs != 0) {
        HotFunction& function = hot_[at(i).function];
        function.blocks.push_back(by_address_[i]);
        function.runs = saturating_sum(function.runs, runs);
        function.bytes += at(i).bytes;
        block_runs_[by_address_[i]] = runs;
      }
      if (falls != 0 && i + 1 < by_address_.size() && at(i).function == at(i + 1).function) {
        hot_[at(i).function].edges.push_back({by_address_[i], by_address_[i + 1], falls});
      }
    }
    // A branch with a target that no range begins at says that it ran, too.
    for (auto& [number, function] : hot_) {
      for (const WeightedEdge& edge : function.edges) {
        for (const std::uint32_t block : {edge.from, edge.to}) {
          if (block_runs_.try_emplace(block, edge.weight).second) {
            function.blocks.push_back(block);
            function.runs = saturating_sum(function.runs, edge.weight);
            function.bytes += map_.blocks[block].bytes;
          }
        }
      }
    }
  }

  void order_functions() {
    std::vector<ClusterItem> items;
    std::unordered_map<std::uint32_t, std::uint32_t> places;
    for (const auto& [number, function] : hot_) {
      if (function.blocks.empty()) {
        continue;
      }
      if (!names_.contains(map_.entries[number])) {
        ++profile_.unnamed;
        continue;
      }
      places.emplace(number, static_cast<std::uint32_t>(items.size()));
      items.push_back({function.runs, function.bytes});
      order_.push_back(number);
    }
    std::vector<WeightedEdge> calls;
    for (const WeightedEdge& call : calls_) {
      const auto from = places.find(call.from);
      const auto to = places.find(call.to);
      if (from != places.end() && to != places.end()) {
        calls.push_back({from->second, to->second, call.weight});
      }
    }
    const std::vector<std::uint32_t> ordered = cluster_calls(items, calls, kMostClusterBytes);
    std::vector<std::uint32_t> functions;
    functions.reserve(ordered.size());
    for (const std::uint32_t place : ordered) {
      functions.push_back(order_[place]);
    }
    order_ = std::move(functions);
  }

  // Blocks of a function in their order, the entry first, since a section of a function begins
  // with it.
  [[nodiscard]] std::vector<std::uint32_t> order_blocks(const HotFunction& function,
                                                        std::uint32_t entry) const {
    std::vector<std::uint32_t> blocks = function.blocks;
    if (std::find(blocks.begin(), blocks.end(), entry) == blocks.end()) {
      blocks.push_back(entry);
    }
    std::sort(blocks.begin(), blocks.end());
    const auto place_of = [&blocks](std::uint32_t block) {
      return static_cast<std::uint32_t>(std::lower_bound(blocks.begin(), blocks.end(), block) -
                                        blocks.begin());
    };
    std::vector<WeightedEdge> edges;
    edges.reserve(function.edges.size());
    for (const WeightedEdge& edge : function.edges) {
      edges.push_back({place_of(edge.from), place_of(edge.to), edge.weight});
    }
    std::vector<ClusterItem> items;
    items.reserve(blocks.size());
    for (const std::uint32_t block : blocks) {
      const auto runs = block_runs_.find(block);
      items.push_back({runs == block_runs_.end() ? 0 : runs->second, map_.blocks[block].bytes});
    }
    std::vector<std::uint32_t> ordered = chain_blocks(items, edges, place_of(entry));
    for (std::uint32_t& block : ordered) {
      block = blocks[block];
    }
    return ordered;
  }

  void write() {
    std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> blocks_of;
    for (std::uint32_t i = 0; i < map_.blocks.size(); ++i) {
      auto& [first, count] = blocks_of.try_emplace(map_.blocks[i].function, i, 0U).first->second;
      ++count;
    }
    std::string cold;
    profile_.clusters = "v1\n";
    for (const std::uint32_t number : order_) {
      const auto& [first, count] = blocks_of.at(number);
      const std::vector<std::uint32_t> blocks = order_blocks(hot_.at(number), first);
      const std::vector<std::string_view>& names = names_.at(map_.entries[number]);
      profile_.clusters += 'f';
      for (const std::string_view name : names) {
        profile_.clusters.append(" ").append(name);
        profile_.order.append(name).append("\n");
        if (blocks.size() < count) {
          cold.append(name).append(".cold\n");
        }
      }
      profile_.clusters += "\nc";
      for (const std::uint32_t block : blocks) {
        profile_.clusters.append(" ").append(std::to_string(map_.blocks[block].id));
      }
      profile_.clusters += '\n';
      ++profile_.functions;
    }
    profile_.order += cold;
  }

  const BlockMap& map_;
  std::unordered_map<std::uint64_t, std::vector<std::string_view>> names_;
  std::vector<std::uint32_t> by_address_;
  std::vector<std::uint64_t> runs_;   // by place: what a block has more than the one before it
  std::vector<std::uint64_t> falls_;  // the same of runs that go on with the next block
  std::vector<WeightedEdge> calls_;   // between functions
  std::map<std::uint32_t, HotFunction> hot_;
  std::unordered_map<std::uint32_t, std::uint64_t> block_runs_;
  std::vector<std::uint32_t> order_;  // functions
  PropellerProfile profile_;
};

}  // namespace

PropellerProfile propeller_profile(const PlacedBranches& placed, const BlockMap& map,
                                   const SymbolTable& symbols) {
  return Layout(map, symbols).run(placed);
}

}  // namespace stackpack::app
