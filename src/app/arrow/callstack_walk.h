#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "app/arrow/callstack_numbers.h"
#include "app/arrow/naming_places.h"
#include "core/number_table.h"
#include "query/naming/prefix_walk.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/symbols.h"

namespace stackpack::app {

/// A node of the tree of callstacks. Where a callstack ends, its id is the number of that; ids of
/// the others follow.
struct CallstackNode {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint32_t id = 0;
  std::uint32_t parent = kNone;  ///< what called it; comes before it
  std::uint32_t frame = 0;
  std::uint32_t depth = 1;   ///< of a root 1
  StackId stack = kNoStack;  ///< id in the file, of a callstack that ends here
};

/// Goes through the callstacks of a file by number and gives each node of their tree once, callers
/// first. Neighbours in the order share what they have in common, so that all it remembers is the
/// last callstack and the frames of one place.
class CallstackWalk {
 public:
  /// Appends the numbers of what a frame is in a place, innermost first; false: not known.
  using FrameNumbers = std::function<bool(const symbols::MappingContext&, const Frame&, AddressUse,
                                          std::vector<std::uint32_t>&)>;
  /// All must outlive this.
  CallstackWalk(const Reader& reader, const CallstackNumbers& stacks, FrameNumbers frame_numbers)
      : reader_(reader),
        stacks_(stacks),
        frame_numbers_(std::move(frame_numbers)),
        next_node_(stacks.size()) {}

  [[nodiscard]] bool done() const { return next_ == stacks_.size(); }

  /// Visits the new nodes of the next callstacks, until `visit` returns false or all are done.
  /// Errors: those of the reader; kLimit: more than 2^32 - 1 nodes; kCorrupt.
  using Visit = std::function<bool(std::span<const CallstackNode>)>;
  Status advance(const Visit& visit);

 private:
  struct PlacedFrameHash {
    std::uint64_t operator()(const query::PlacedFrame& placed) const;
  };
  struct Step {
    std::uint32_t node = CallstackNode::kNone;  ///< the innermost one
    std::uint32_t depth = 0;
  };
  struct Range {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  void enter_place(std::uint32_t place);
  bool add_stack(std::span<const Frame> leaf_first, StackId stack);
  std::optional<Step> add_nodes(const query::PlacedFrame& placed, Step step, StackId stack);
  [[nodiscard]] std::span<const std::uint32_t> numbers_of(const query::PlacedFrame& placed);

  const Reader& reader_;
  const CallstackNumbers& stacks_;
  const FrameNumbers frame_numbers_;
  std::uint32_t next_ = 0;
  std::uint64_t next_node_;
  std::uint32_t place_ = ~std::uint32_t{0};
  query::PrefixWalk<Step> walk_;
  std::vector<CallstackNode> nodes_;
  core::NumberTable<query::PlacedFrame, PlacedFrameHash> known_;  // in this place
  std::vector<Range> ranges_;                                     // by their numbers
  std::vector<std::uint32_t> lists_;
};

}  // namespace stackpack::app
