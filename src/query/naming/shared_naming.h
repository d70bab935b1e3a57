// What the frames of many callstacks belong to, looked up by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "query/naming/frame_entities.h"
#include "query/naming/stack_entities.h"
#include "query/selection/capture_view.h"
#include "query/selection/sample_grouper.h"
#include "stackpack/result.h"

namespace stackpack::query {

/// Gives groups of samples the entities of their callstacks, as StackEntities does. Threads name
/// parts of the groups by numbers of their own; these get those of `entities` when the parts are
/// taken in their order, so that numbers do not depend on which thread had which part.
///
/// Memory: some MiB for the parts, and for each thread what FrameEntities takes for a million
/// frames.
class SharedNaming {
 public:
  /// Makes another FrameEntities like `entities`.
  using Make = std::function<std::unique_ptr<FrameEntities>()>;
  /// The entities are valid until it returns, none without a callstack. False: no more.
  using Visit = std::function<bool(const Group&, std::span<const std::uint32_t> leaf_first)>;

  /// What is worth starting threads for.
  static constexpr std::size_t kManyGroups = std::size_t{1} << 15;
  static constexpr std::size_t kMostFrames = std::size_t{1} << 20;

  /// `view` and `entities` must outlive this; callstacks of the view are asked for by several
  /// threads. `folds_broken`: as of StackEntities. `most_frames`: how many frames a thread knows
  /// when it begins to forget them.
  SharedNaming(const CaptureView& view, FrameEntities& entities, const Make& make,
               bool folds_broken, std::size_t most_frames = kMostFrames);
  SharedNaming(const SharedNaming&) = delete;
  SharedNaming& operator=(const SharedNaming&) = delete;
  ~SharedNaming();

  /// Errors: of reading callstacks. Once it was ended, by one or by the visitor, it is of no use.
  Status each(std::span<const Group> groups, const Visit& visit);

 private:
  class Worker;
  struct Part;

  bool take(Part& part, const Visit& visit);
  Status take_rest(const Part& part, const Visit& visit, bool& goes_on);

  const CaptureView& view_;
  FrameEntities& entities_;
  StackEntities stacks_;  // for callstacks that a part has no room for
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace stackpack::query
