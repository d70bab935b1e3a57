#include "export/html/page_order.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string_view>
#include <tuple>

#include "core/saturating.h"
#include "core/sort_rows.h"

namespace stackpack::exporting {

namespace {

std::string_view module_name_of(const PageContent& content, const PageFunction& function) {
  return function.module == kNoPageModule ? std::string_view() : content.modules[function.module];
}

// Functions that nodes have about equally often are next to each other by module and place, so that
// the differences of their offsets are small.
std::vector<std::uint32_t> functions_in_order(const PageContent& content) {
  std::vector<std::uint32_t> uses(content.functions.size());
  for (std::size_t node = 1; node < content.node_functions.size(); ++node) {
    ++uses[content.node_functions[node]];
  }
  std::vector<std::uint32_t> order(content.functions.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](std::uint32_t number) {
    const PageFunction& function = content.functions[number];
    return std::tuple(32 - std::bit_width(uses[number]), module_name_of(content, function),
                      function.named, function.offset, std::string_view(function.name));
  };
  core::sort_rows(order, [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  return order;
}

std::vector<std::uint32_t> inverse_of(const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> places(order.size());
  for (std::uint32_t place = 0; place < order.size(); ++place) {
    places[order[place]] = place;
  }
  return places;
}

/// The children of each node, one node after the other.
struct Children {
  explicit Children(const std::vector<std::uint32_t>& parents)
      : first(parents.size() + 1), list(parents.empty() ? 0 : parents.size() - 1) {
    for (std::size_t node = 1; node < parents.size(); ++node) {
      ++first[parents[node] + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (std::uint32_t node = 1; node < parents.size(); ++node) {
      list[next[parents[node]]++] = node;
    }
  }
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> list;
};

std::vector<std::uint32_t> nodes_in_order(const PageContent& content,
                                          const std::vector<std::uint32_t>& function_places) {
  Children children(content.parents);
  {
    const std::vector<std::uint64_t> totals =
        content.measures.empty() ? std::vector<std::uint64_t>(content.parents.size())
                                 : totals_of(content, 0);
    const auto key = [&](std::uint32_t node) {
      return std::tuple(~totals[node], function_places[content.node_functions[node]]);
    };
    // The last come first off the stack below.
    for (std::size_t node = 0; node < content.parents.size(); ++node) {
      std::sort(children.list.begin() + children.first[node],
                children.list.begin() + children.first[node + 1],
                [&](std::uint32_t a, std::uint32_t b) { return key(b) < key(a); });
    }
  }
  std::vector<std::uint32_t> order;
  order.reserve(content.parents.size());
  std::vector<std::uint32_t> open{0};
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    order.push_back(node);
    open.insert(open.end(), children.list.begin() + children.first[node],
                children.list.begin() + children.first[node + 1]);
  }
  return order;
}

}  // namespace

std::vector<std::uint64_t> totals_of(const PageContent& content, std::size_t measure) {
  std::vector<std::uint64_t> totals(content.parents.size());
  for (const auto& side : content.self) {
    for (const NodeValue& own : side[measure]) {
      core::add_saturating(totals[own.node], own.value);
    }
  }
  for (std::size_t node = totals.size(); node-- > 1;) {
    std::uint64_t& outer = totals[content.parents[node]];
    core::add_saturating(outer, totals[node]);
  }
  return totals;
}

PageOrder order_of(const PageContent& content) {
  PageOrder order;
  order.functions = functions_in_order(content);
  order.function_places = inverse_of(order.functions);
  order.nodes = nodes_in_order(content, order.function_places);
  order.node_places = inverse_of(order.nodes);
  return order;
}

}  // namespace stackpack::exporting
