// The frames of many callstacks, read and told apart by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "query/naming/prefix_walk.h"
#include "query/selection/capture_view.h"
#include "query/selection/sample_selection.h"
#include "stackpack/result.h"

namespace stackpack::query {

/// A callstack of a mapping context, as what it does not share with the one before it.
struct DivergingStack {
  std::size_t position = 0;               ///< in the ids that were asked for
  bool is_broken = false;                 ///< what BrokenRoots counts is left out
  std::uint32_t shared = 0;               ///< frames from the root which the one before it has, too
  std::span<const std::uint32_t> frames;  ///< the others, root first: as `name` has them
};

/// Reads callstacks of one context and numbers their frames. Threads have parts of the ids and
/// numbers of their own, which `name` is asked about when a part is taken: once for each frame of a
/// thread, in an order that does not depend on which thread had which part.
///
/// Memory: some MiB for the parts, and for each thread up to 40 MiB of frames that it has met.
class SharedPlacing {
 public:
  /// What is worth starting threads for.
  static constexpr std::size_t kManyStacks = std::size_t{1} << 15;
  static constexpr std::size_t kMostFrames = std::size_t{1} << 19;

  using Name = std::function<std::uint32_t(const PlacedFrame&)>;
  /// The frames of the callstack are what `name` said of them.
  using Visit = std::function<Status(const DivergingStack&)>;

  /// `selection` must outlive this; several threads ask its view for callstacks. `folds_broken`: as
  /// of StackResolver. `most_frames`: how many frames a thread knows when it begins to forget them.
  SharedPlacing(const SampleSelection& selection, bool folds_broken,
                std::size_t most_frames = kMostFrames);
  SharedPlacing(const SharedPlacing&) = delete;
  SharedPlacing& operator=(const SharedPlacing&) = delete;
  ~SharedPlacing();

  /// Threads begin with callstacks which the next each() is about. `ids` stay where they are until
  /// it has returned.
  void begin(std::span<const StackId> ids, std::uint32_t context);

  /// `ids`: ascending, each once; visited in this order. `rest`: callstacks that a part had no room
  /// for, by their positions: for the caller to read before the next one is visited.
  /// Errors: of reading callstacks, and those of `visit` and `rest`, which end it.
  Status each(std::span<const StackId> ids, std::uint32_t context, const Name& name,
              const Visit& visit, const std::function<Status(std::size_t, std::size_t)>& rest);

 private:
  class Worker;
  struct Part;
  struct Run;

  Status take(Part& part, const Name& name, const Visit& visit);

  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Run> run_;  // after begin(); last: its threads use what is above
};

}  // namespace stackpack::query
