// What the frames of whole callstacks belong to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "query/naming/broken_roots.h"
#include "query/naming/frame_entities.h"
#include "query/naming/prefix_walk.h"
#include "stackpack/model.h"

namespace stackpack::query {

/// Entities of callstacks as they come in the order of a file, where neighbours begin alike at the
/// root: only what is below is looked up.
///
/// Memory: of the latest callstack.
class StackEntities {
 public:
  /// `entities` must outlive this.
  /// `folds_broken`: what BrokenRoots finds is one entity.
  explicit StackEntities(FrameEntities& entities, bool folds_broken = false) : entities_(entities) {
    if (folds_broken) {
      broken_.emplace(entities.selection());
    }
  }

  /// The entities of a callstack in a context, leaf first. Valid until the next call.
  std::span<const std::uint32_t> of(std::span<const Frame> leaf_first, std::uint32_t context);

 private:
  FrameEntities& entities_;
  std::optional<BrokenRoots> broken_;
  bool is_broken_ = false;  // the latest callstack
  std::uint32_t context_ = 0;
  PrefixWalk<std::size_t> walk_;  // where the entities of a frame end in root_first_
  std::vector<std::uint32_t> root_first_;
  std::vector<std::uint32_t> leaf_first_;
};

}  // namespace stackpack::query
