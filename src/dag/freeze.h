#pragma once

#include <cstdint>
#include <vector>

#include "dag/frame_word.h"
#include "dag/frozen_dag.h"
#include "dag/node_store.h"
#include "stackpack/model.h"

namespace stackpack::dag {

/// Whether freeze_nodes() may take memory to be done sooner: 8 bytes per node more than
/// freeze_peak_bytes() for a second thread and, when these are free again, 32 for each child of the
/// node that has the most of them. The result is the same.
enum class FreezeSteps : std::uint8_t { kOneByOne, kSideBySide };

/// Puts the nodes into canonical order: depth first, children by frame.
///
/// Input:  the arrays of a store with at least its root, and the escape table of its words.
/// Output: `dag`, and in `stack_of_node` for each node of the store the rank of the callstack that
///         ends there, or kNoStack.
/// Cost:   one pass to number the frames, one to sort brothers, one walk; freeze_peak_bytes().
void freeze_nodes(NodeStore::Arrays nodes, const EscapeTable& escapes, FreezeSteps steps,
                  FrozenDag& dag, std::vector<StackId>& stack_of_node);

/// Bytes in use at the worst moment of freeze_nodes() one by one, its input and output included.
std::uint64_t freeze_peak_bytes(std::uint64_t nodes, std::uint64_t distinct_frames);

}  // namespace stackpack::dag
