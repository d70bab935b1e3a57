#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "query/naming/broken_roots.h"
#include "query/naming/location_table.h"
#include "query/naming/prefix_walk.h"
#include "query/naming/shared_placing.h"
#include "query/naming/stack_tree.h"
#include "query/selection/capture_view.h"
#include "query/selection/sample_selection.h"

namespace stackpack::query {

/// Turns callstacks of a capture into nodes of a tree of locations.
class StackResolver {
 public:
  /// All must outlive the resolver.
  /// `folds_broken`: what BrokenRoots finds is one location.
  StackResolver(const SampleSelection& selection, LocationTable& locations, StackTree& tree,
                bool folds_broken = false);

  /// A callstack as seen in a mapping context, to be put below `root`.
  struct Request {
    StackId stack = kNoStack;
    std::uint32_t context = 0;
    std::uint32_t root = StackTree::kRoot;
  };

  /// Threads begin with the requests that the next resolve() is about, where they are worth it.
  /// No other call comes between.
  void begin(std::span<const Request> requests);

  /// The node at which each callstack ends, into `nodes` (replaced); `root` itself for kNoStack.
  /// Cost: pages are loaded once per context among the requests. The frames which a callstack
  ///       shares with the one before it (of the same context and root) are not looked up again.
  Status resolve(std::span<const Request> requests, std::vector<std::uint32_t>& nodes);

 private:
  struct CachedFrame {
    std::uint32_t context = ~std::uint32_t{0};
    std::uint32_t location = 0;
    PlacedFrame placed;
  };
  void put_in_order(std::span<const Request> requests);
  // Requests from a place in order_ on that have one context and root, and a callstack.
  [[nodiscard]] std::span<const std::uint32_t> run_from(std::size_t begin,
                                                        std::span<const Request> requests) const;
  void list_ids(std::span<const Request> requests, std::span<const std::uint32_t> run);
  [[nodiscard]] bool is_shared() const;
  SharedPlacing& shared();
  Status resolve_run(std::span<const Request> requests, std::span<const std::uint32_t> run,
                     std::vector<std::uint32_t>& nodes);
  /// The node of a callstack, by its position in ids_.
  using Resolved = std::function<void(std::size_t, std::uint32_t)>;
  Status resolve_ids(std::size_t begin, std::size_t end, const Request& first,
                     const Resolved& resolved);
  Status resolve_shared(const Request& first, const Resolved& resolved);
  Result<std::uint32_t> root_of(bool is_broken, std::uint32_t root);
  Result<std::uint32_t> place(std::span<const Frame> leaf_first, std::uint32_t context,
                              std::uint32_t root);
  Result<std::uint32_t> place_parts(std::uint32_t location, std::uint32_t node);
  std::uint32_t location_of(std::uint32_t context, const PlacedFrame& placed);

  const SampleSelection& selection_;
  LocationTable& locations_;
  StackTree& tree_;
  std::optional<BrokenRoots> broken_;
  bool is_broken_ = false;  // the latest callstack
  std::vector<CachedFrame> cache_;
  PrefixWalk<std::uint32_t> walk_;  // node at each frame
  bool folds_broken_;
  std::vector<std::uint32_t> order_;      // of requests: by context, root and callstack
  bool has_begun_ = false;                // order_ and ids_ are those of begin()
  std::vector<StackId> ids_;              // of a run: ascending, each once
  std::vector<std::size_t> first_of_id_;  // in the run, where the requests for each id begin
  std::optional<SharedPlacing> shared_;   // once there are many callstacks; last: it uses ids_
};

}  // namespace stackpack::query
