#pragma once

#include <cstdint>
#include <vector>

#include "stackpack/model.h"

namespace stackpack::dag {

/// Deepest callstack that a node store takes, in frames.
inline constexpr std::uint32_t kMaxDepth = 65'535;

/// The callstacks of one segment in canonical order: depth first, children by frame, the root (not
/// stored) before everything. A function of the set of callstacks alone, whatever their order of
/// arrival.
///
/// Node i is a child of the last node before it whose depth is depth[i] - 1.
struct FrozenDag {
  std::vector<Frame> dictionary;          ///< every distinct frame once, ascending
  std::vector<std::uint32_t> frame;       ///< per node: index in the dictionary
  std::vector<std::uint16_t> depth;       ///< per node: 1 = child of the root
  std::vector<std::uint64_t> ends_stack;  ///< bit i % 64 of word i / 64: a callstack ends at node i
  std::uint32_t stack_count = 0;          ///< bits set in ends_stack; the ranks are the stack ids

  [[nodiscard]] std::size_t node_count() const { return frame.size(); }
  [[nodiscard]] bool ends(std::size_t node) const {
    return ((ends_stack[node / 64] >> (node % 64)) & 1) != 0;
  }
};

}  // namespace stackpack::dag
