// How much is shown of calls that were inlined into each other at one place.
#pragma once

#include <cstddef>
#include <string>

namespace stackpack::query {

/// Trees of callstacks have a node for each inlined call of each frame. A small file can have 500
/// calls at each of its places, and callstacks of many of those. Of a chain with more than
/// `kMost`, trees show the outermost and the innermost ones, and one frame in place of the others.
struct InlinedChain {
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kShownAtEnd = 8;

  /// Of how many calls one frame takes the place; 0: all of them are shown.
  static constexpr std::size_t hidden(std::size_t calls) {
    return calls > kMost ? calls - 2 * kShownAtEnd : 0;
  }
  /// What that frame is called.
  static std::string title(std::size_t hidden) {
    return "[" + std::to_string(hidden) + " inlined calls]";
  }
};

}  // namespace stackpack::query
