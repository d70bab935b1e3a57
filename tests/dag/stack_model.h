// Callstacks for tests of the DAG: a seeded generator, and the plain model that the builder and the
// frozen DAG are compared with.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "capture/stack_view.h"
#include "dag/builder.h"
#include "dag/frozen_dag.h"

namespace stackpack::test {

/// A callstack root first, as the DAG sees it.
using RootFirst = std::vector<Frame>;

/// Owns what a StackView points to.
class OwnedStack {
 public:
  explicit OwnedStack(const RootFirst& frames) {
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      addresses_.push_back(frame->address);
      if (runs_.empty() || runs_.back().mode != frame->mode) {
        runs_.push_back({frame->mode, 0});
      }
      ++runs_.back().count;
    }
  }
  [[nodiscard]] capture::StackView view() const { return {addresses_, runs_}; }

 private:
  std::vector<std::uint64_t> addresses_;
  std::vector<capture::ModeRun> runs_;
};

inline Result<dag::NodeIndex> intern(dag::Builder& builder, const RootFirst& frames,
                                     std::uint64_t thread = 1) {
  return builder.intern(OwnedStack(frames).view(), thread);
}

struct RandomStacks {
  unsigned frames = 40;         ///< distinct frames to draw from
  unsigned depth = 12;          ///< up to
  unsigned threads = 5;         ///< each keeps a last callstack
  unsigned escape_percent = 5;  ///< frames whose address is not canonical

  struct Arrival {
    std::uint64_t thread;
    RootFirst frames;
  };

  [[nodiscard]] std::vector<Arrival> make(std::uint64_t seed, std::size_t count) const {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t limit) { return random() % limit; };
    std::vector<Frame> pool(frames);
    for (Frame& frame : pool) {
      // Few addresses and many modes, so that frames differ in the mode alone, too.
      frame.mode = static_cast<FrameMode>(below(kFrameModeCount));
      frame.address = below(frames / 2 + 1) * 0x1001;
      if (below(100) < escape_percent) {
        frame.address |= (1 + below(14)) << 60;
      } else if (below(2) == 0) {
        frame.address |= std::uint64_t{0xffff} << 48;
      }
    }
    std::vector<RootFirst> last(threads);
    std::vector<Arrival> arrivals;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t thread = below(threads);
      RootFirst& stack = last[thread];
      stack.resize(below(stack.size() + 1));
      const std::size_t depth_now = below(depth + 1);
      while (stack.size() < depth_now) {
        stack.push_back(pool[below(pool.size())]);
      }
      arrivals.push_back({thread, stack});
    }
    return arrivals;
  }
};

/// What the frozen DAG of a set of callstacks is by definition, made with sorted sets.
struct DagModel {
  std::set<RootFirst> stacks;    ///< without the empty one; set order = canonical order
  std::set<RootFirst> prefixes;  ///< every node as its path; likewise

  void add(const RootFirst& stack) {
    RootFirst prefix;
    for (const Frame& frame : stack) {
      prefix.push_back(frame);
      prefixes.insert(prefix);
    }
    if (!stack.empty()) {
      stacks.insert(stack);
    }
  }

  [[nodiscard]] dag::FrozenDag frozen() const {
    dag::FrozenDag dag;
    std::set<Frame> distinct;
    for (const RootFirst& path : prefixes) {
      distinct.insert(path.back());
    }
    dag.dictionary.assign(distinct.begin(), distinct.end());
    dag.ends_stack.resize((prefixes.size() + 63) / 64);
    for (const RootFirst& path : prefixes) {
      const auto found =
          std::lower_bound(dag.dictionary.begin(), dag.dictionary.end(), path.back());
      if (stacks.count(path) != 0) {
        dag.ends_stack[dag.frame.size() / 64] |= std::uint64_t{1} << (dag.frame.size() % 64);
      }
      dag.frame.push_back(static_cast<std::uint32_t>(found - dag.dictionary.begin()));
      dag.depth.push_back(static_cast<std::uint16_t>(path.size()));
    }
    dag.stack_count = static_cast<std::uint32_t>(stacks.size());
    return dag;
  }
};

inline bool same_dag(const dag::FrozenDag& a, const dag::FrozenDag& b) {
  return a.dictionary == b.dictionary && a.frame == b.frame && a.depth == b.depth &&
         a.ends_stack == b.ends_stack && a.stack_count == b.stack_count;
}

/// The callstacks of a frozen DAG by id, root first.
inline std::vector<RootFirst> stacks_of(const dag::FrozenDag& dag) {
  std::vector<RootFirst> stacks;
  RootFirst path;
  for (std::size_t i = 0; i < dag.node_count(); ++i) {
    path.resize(dag.depth[i] - std::size_t{1});
    path.push_back(dag.dictionary[dag.frame[i]]);
    if (dag.ends(i)) {
      stacks.push_back(path);
    }
  }
  return stacks;
}

}  // namespace stackpack::test
