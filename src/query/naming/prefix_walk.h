#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "stackpack/model.h"
#include "stackpack/symbols.h"

namespace stackpack::query {

/// A frame, and where its address points to.
struct PlacedFrame {
  Frame frame;
  AddressUse use = AddressUse::kExact;

  friend bool operator==(const PlacedFrame&, const PlacedFrame&) = default;
};

/// Looks up the frames of callstacks that come in the order of a file, where neighbours begin alike
/// at the root: of each only what it does not share with the one before it.
///
/// Step: what a frame was found to be; those above it, towards the root, decide it as well.
/// Memory: of the latest callstack.
template <typename Step>
class PrefixWalk {
 public:
  struct Found {
    PlacedFrame placed;
    Step step;
  };

  /// The next callstack shares nothing with the last one: addresses mean something else, and so
  /// may uses.
  void clear() { path_.clear(); }

  /// `use_of(index)`: the use of a frame of `leaf_first`, which depends on that frame and the one
  /// that it called, before it. `look_up(placed, level, caller)`: the
  /// step of a frame, `level` from the root, whose caller has the step `*caller`, null for the
  /// root; nothing ends the walk. `most_shared`: frames from the root that may be shared. False:
  /// `look_up` ended it. The steps so far are kept.
  template <typename UseOf, typename LookUp>
  bool go_on(std::span<const Frame> leaf_first, const UseOf& use_of, const LookUp& look_up,
             std::size_t most_shared = std::numeric_limits<std::size_t>::max()) {
    const std::size_t depth = leaf_first.size();
    const std::size_t end = std::min({depth, path_.size(), most_shared});
    std::size_t level = 0;
    while (level < end && path_[level].placed.frame == leaf_first[depth - 1 - level]) {
      ++level;
    }
    // Frames above the last one that is shared have the callee that they had.
    while (level > 0 && path_[level - 1].placed.use != use_of(depth - level)) {
      --level;
    }
    path_.resize(level);
    for (; level < depth; ++level) {
      const std::size_t index = depth - 1 - level;
      const PlacedFrame placed{leaf_first[index], use_of(index)};
      const Step* const caller = level == 0 ? nullptr : &path_.back().step;
      std::optional<Step> step = look_up(placed, level, caller);
      if (!step) {
        return false;
      }
      path_.push_back({placed, *step});
    }
    return true;
  }

  /// Of the latest callstack, root first.
  [[nodiscard]] std::span<const Found> path() const { return path_; }

 private:
  std::vector<Found> path_;
};

}  // namespace stackpack::query
