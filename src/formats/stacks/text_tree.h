// A call tree that comes node by node, each before those below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/stacks/stack_dialects.h"
#include "formats/stacks/stack_writer.h"

namespace stackpack::stacks {

class TextTree {
 public:
  TextTree(StackWriter& writer, TreeOrder order) : writer_(writer), order_(order) {}

  /// Ends the nodes that are not above the new one.
  Status add(const StackLine& node, std::uint64_t offset);

  /// Ends all.
  Status finish() { return end_from(0); }

 private:
  struct Node {
    std::uint64_t address = 0;
    std::size_t depth = 0;
    core::DecimalWeight rest;  // what no node below has
    std::string event;
    std::uint64_t offset = 0;
  };

  Status end_from(std::size_t depth);
  Status write(const Node& node);
  void take_from_caller(const core::DecimalWeight& weight, std::uint64_t offset);

  StackWriter& writer_;
  TreeOrder order_;
  std::vector<Node> path_;
  std::vector<std::uint64_t> stack_;
};

}  // namespace stackpack::stacks
