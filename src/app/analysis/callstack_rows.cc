#include "app/analysis/callstack_rows.h"

#include <algorithm>

#include "core/no_callstack.h"
#include "core/saturating.h"

namespace stackpack::app {

namespace {

constexpr char kBetween = ';';
constexpr std::uint64_t kParts = std::uint64_t{1} << 32;  // there are fewer

// Calls take(part) for what is between semicolons.
template <typename Take>
void each_part(std::string_view name, const Take& take) {
  std::size_t begin = 0;
  for (std::size_t end = name.find(kBetween); end != std::string_view::npos;
       end = name.find(kBetween, begin)) {
    take(name.substr(begin, end - begin));
    begin = end + 1;
  }
  take(name.substr(begin));
}

}  // namespace

std::uint32_t CallstackRows::child_of(std::uint32_t node, std::uint32_t part) {
  const std::uint32_t number = children_.number(node * kParts + part) + 1;
  if (number == nodes_.size()) {
    nodes_.push_back({node, part, nodes_[node].depth + 1});
  }
  return number;
}

std::uint32_t CallstackRows::below(std::uint32_t node, std::string_view name) {
  each_part(name, [&](std::string_view part) { node = child_of(node, texts_.intern(part)); });
  return node;
}

const CallstackRows::Parts& CallstackRows::parts_of(std::uint32_t entity,
                                                    std::span<const query::FrameEntity> entities) {
  if (entity >= entity_parts_.size()) {
    entity_parts_.resize(entities.size());
  }
  Parts& parts = entity_parts_[entity];
  if (parts.count == 0) {
    parts.first = static_cast<std::uint32_t>(part_lists_.size());
    each_part(entities[entity].name, [&](std::string_view part) {
      part_lists_.push_back(texts_.intern(part));
      ++parts.count;
    });
  }
  return parts;
}

// Callstacks come in the order of a file, where neighbours begin alike at the root.
void CallstackRows::add(std::span<const std::uint32_t> leaf_first,
                        std::span<const query::FrameEntity> entities, std::uint64_t value,
                        StackId stack) {
  const std::size_t depth = leaf_first.size();
  std::size_t shared = 0;
  while (shared < std::min(depth, path_.size()) &&
         path_[shared].entity == leaf_first[depth - 1 - shared]) {
    ++shared;
  }
  path_.resize(shared);
  std::uint32_t node = path_.empty() ? kRoot : path_.back().node;
  for (std::size_t level = shared; level < depth; ++level) {
    const std::uint32_t entity = leaf_first[depth - 1 - level];
    const Parts parts = parts_of(entity, entities);
    // Before the first text stands nothing, no semicolon either.
    const bool is_nothing = parts.count == 1 && texts_.text(part_lists_[parts.first]).empty();
    for (std::uint32_t i = 0; i < parts.count && (node != kRoot || !is_nothing); ++i) {
      node = child_of(node, part_lists_[parts.first + i]);
    }
    path_.push_back({entity, node});
  }
  Node& row = nodes_[node == kRoot ? below(kRoot, core::kNoCallstack) : node];
  row.is_row = true;
  core::add_saturating(row.value, value);
  row.stack = std::min(row.stack, stack);
}

std::string CallstackRows::text_of(std::uint32_t node) const {
  std::vector<std::uint32_t> parts;
  for (; node != kRoot; node = nodes_[node].parent) {
    parts.push_back(nodes_[node].part);
  }
  std::string text;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part != parts.rbegin()) {
      text += kBetween;
    }
    text += texts_.text(*part);
  }
  return text;
}

// As text_of(a) < text_of(b). They differ first in the parts where their paths part, or just behind
// the shorter one of these.
bool CallstackRows::text_less(std::uint32_t a, std::uint32_t b) const {
  const std::uint32_t depth_a = nodes_[a].depth;
  const std::uint32_t depth_b = nodes_[b].depth;
  const std::uint32_t both = std::min(depth_a, depth_b);
  while (nodes_[a].depth > both) {
    a = nodes_[a].parent;
  }
  while (nodes_[b].depth > both) {
    b = nodes_[b].parent;
  }
  if (a == b) {
    return depth_a < depth_b;
  }
  while (nodes_[a].parent != nodes_[b].parent) {
    a = nodes_[a].parent;
    b = nodes_[b].parent;
  }
  const std::string_view text_a = texts_.text(nodes_[a].part);
  const std::string_view text_b = texts_.text(nodes_[b].part);
  const auto next = [](bool goes_on) {
    return goes_on ? std::string_view(&kBetween, 1) : std::string_view();
  };
  if (text_b.starts_with(text_a)) {
    return next(depth_a > nodes_[a].depth) < text_b.substr(text_a.size());
  }
  if (text_a.starts_with(text_b)) {
    return text_a.substr(text_b.size()) < next(depth_b > nodes_[b].depth);
  }
  return text_a < text_b;
}

std::size_t CallstackRows::list(std::size_t most, std::vector<HotSpot>& rows) const {
  std::vector<std::uint32_t> order;
  for (std::uint32_t node = 1; node < nodes_.size(); ++node) {
    if (nodes_[node].is_row) {
      order.push_back(node);
    }
  }
  const std::size_t all = order.size();
  const std::size_t count = most == 0 ? all : std::min(most, all);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(order.begin(), end, order.end(), [this](std::uint32_t a, std::uint32_t b) {
    return nodes_[a].value != nodes_[b].value ? nodes_[a].value > nodes_[b].value : text_less(a, b);
  });
  for (const std::uint32_t number : std::span(order).first(count)) {
    const Node& node = nodes_[number];
    HotSpot& row = rows.emplace_back(HotSpot{text_of(number), "", "", node.value, node.value});
    if (node.stack != kNoStack) {
      row.stack = node.stack;
    }
  }
  return all - count;
}

}  // namespace stackpack::app
