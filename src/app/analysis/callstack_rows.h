// Rows of a report whose rows are callstacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/analysis/hot_spot_query.h"
#include "core/number_table.h"
#include "core/string_table.h"
#include "query/naming/frame_entities.h"

namespace stackpack::app {

/// Sums of callstacks by their text, `root;...;leaf`.
///
/// Texts are long and mostly begin alike, so none is made before it is a row: callstacks are paths
/// in a tree of the parts between the semicolons. Names with a semicolon in them are several parts;
/// so two callstacks have one text exactly where they have one node.
///
/// Memory: 40 bytes and 8 to 16 of the index for each node of that tree, and the names.
class CallstackRows {
 public:
  CallstackRows() : nodes_(1) {}

  /// `entities`: by number; those that were there before stay. `stack`: kNoStack: none that could
  /// be shown.
  void add(std::span<const std::uint32_t> leaf_first, std::span<const query::FrameEntity> entities,
           std::uint64_t value, StackId stack);

  /// Adds the first `most` rows (0: all) in the order of sort_hot_spots. Result: how many others
  /// there are.
  std::size_t list(std::size_t most, std::vector<HotSpot>& rows) const;

 private:
  static constexpr std::uint32_t kRoot = 0;

  struct Node {
    std::uint32_t parent = kRoot;
    std::uint32_t part = 0;
    std::uint32_t depth = 0;  // of the root 0
    StackId stack = kNoStack;
    std::uint64_t value = 0;
    bool is_row = false;
  };
  struct Parts {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  // Where a callstack has got to after one of its entities.
  struct Step {
    std::uint32_t entity = 0;
    std::uint32_t node = kRoot;
  };

  std::uint32_t child_of(std::uint32_t node, std::uint32_t part);
  std::uint32_t below(std::uint32_t node, std::string_view name);
  const Parts& parts_of(std::uint32_t entity, std::span<const query::FrameEntity> entities);
  [[nodiscard]] bool text_less(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] std::string text_of(std::uint32_t node) const;

  std::vector<Node> nodes_;
  core::NumberTable<std::uint64_t> children_;  // (parent, part): the node before the next one
  core::StringTable texts_;                    // of parts
  std::vector<Parts> entity_parts_;            // by entity; count 0: not taken apart yet
  std::vector<std::uint32_t> part_lists_;
  std::vector<Step> path_;  // of the latest callstack, root first
};

}  // namespace stackpack::app
