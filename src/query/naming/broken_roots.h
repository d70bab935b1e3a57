// Addresses at the root of callstacks that are no code: what a chain of frame pointers finds behind
// its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "query/selection/sample_selection.h"
#include "stackpack/model.h"

namespace stackpack::query {

/// What stands for such frames, all those of a callstack together.
inline constexpr std::string_view kBrokenRoot = "[broken callstack]";

/// Finds the broken end of callstacks: the user frames next to the root that are in no image and no
/// function, where the frame that they would have called is user code in one.
///
/// Code that nobody maps by a name (run-time code without a mapping) is next to the root only where
/// its callers are unknown as well; what it calls stays. A callstack that is all of such frames is
/// left alone, and so are the frames of imported profiles.
/// Memory: a fixed table of what addresses are.
class BrokenRoots {
 public:
  /// The selection must outlive this.
  explicit BrokenRoots(const SampleSelection& selection);

  /// How many frames at the root of a callstack in a context are broken.
  std::size_t count(std::span<const Frame> leaf_first, std::uint32_t context);

 private:
  struct Known {
    Frame frame;
    std::uint32_t context = ~std::uint32_t{0};
    bool is_code = false;
  };

  bool is_code(const Frame& frame, std::uint32_t context);

  const SampleSelection& selection_;
  std::vector<Known> known_;  // by hash of frame and context
};

}  // namespace stackpack::query
