// A FrozenDag straight from a set of callstacks: no builder, no node map, so that the tests of the
// file format stand on their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "dag/frozen_dag.h"
#include "stackpack/model.h"

namespace stackpack::test {

/// Frames root first. An ordered set of them is in the order of the stack ids: canonical order is
/// the lexicographic one.
using RootFirstStack = std::vector<Frame>;
using StackSet = std::set<RootFirstStack>;

/// No stack of the set is empty.
inline dag::FrozenDag frozen_dag_of(const StackSet& stacks) {
  dag::FrozenDag dag;
  for (const RootFirstStack& stack : stacks) {
    dag.dictionary.insert(dag.dictionary.end(), stack.begin(), stack.end());
  }
  std::sort(dag.dictionary.begin(), dag.dictionary.end());
  dag.dictionary.erase(std::unique(dag.dictionary.begin(), dag.dictionary.end()),
                       dag.dictionary.end());
  const RootFirstStack none;
  const RootFirstStack* before = &none;
  for (const RootFirstStack& stack : stacks) {
    const auto differ =
        std::mismatch(stack.begin(), stack.end(), before->begin(), before->end()).first;
    for (auto frame = differ; frame != stack.end(); ++frame) {
      const auto index = std::lower_bound(dag.dictionary.begin(), dag.dictionary.end(), *frame);
      dag.frame.push_back(static_cast<std::uint32_t>(index - dag.dictionary.begin()));
      dag.depth.push_back(static_cast<std::uint16_t>(frame - stack.begin() + 1));
    }
    const std::size_t last = dag.frame.size() - 1;
    dag.ends_stack.resize(last / 64 + 1);
    dag.ends_stack[last / 64] |= std::uint64_t{1} << (last % 64);
    ++dag.stack_count;
    before = &stack;
  }
  dag.ends_stack.resize((dag.frame.size() + 63) / 64);
  return dag;
}

/// The id of a stack of the set.
inline StackId id_of(const StackSet& stacks, const RootFirstStack& stack) {
  return static_cast<StackId>(std::distance(stacks.begin(), stacks.find(stack)));
}

}  // namespace stackpack::test
