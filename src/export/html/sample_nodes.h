#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/number_table.h"
#include "query/naming/stack_resolver.h"
#include "query/selection/sample_selection.h"

namespace stackpack::exporting {

/// The nodes at which the callstacks of samples end, for samples in any order.
///
/// Memory: 8 bytes a callstack of the file, 20 more for each one in a further mapping context, up
///         to a limit; then it starts anew.
class SampleNodes {
 public:
  /// `resolver` must outlive this. `stack_count`: callstacks of the file. `memory_limit`: bytes.
  SampleNodes(query::StackResolver& resolver, std::uint64_t stack_count,
              std::uint64_t memory_limit);

  /// Says at which node a callstack ends, where that is known already: resolving callstacks in the
  /// order of the samples costs several times as much as in their own order.
  void add(StackId stack, std::uint32_t context, std::uint32_t node);

  /// The node of each sample, into `nodes` (replaced). Errors: those of the resolver.
  Status find(std::span<const query::SummedSample> samples, std::vector<std::uint32_t>& nodes);

 private:
  struct Place {
    std::uint32_t context = ~std::uint32_t{0};
    std::uint32_t node = 0;
  };
  [[nodiscard]] const Place* place_of(StackId stack) const {
    return stack < places_.size() ? &places_[stack] : nullptr;
  }
  void add_trace(std::uint64_t trace, std::uint32_t node);
  Status find_others(std::span<const query::SummedSample> samples,
                     std::vector<std::uint32_t>& nodes);

  query::StackResolver& resolver_;
  std::size_t limit_;
  std::vector<Place> places_;                // by callstack: in the context that came first
  std::vector<std::uint32_t> others_;        // samples that have no node yet
  core::NumberTable<std::uint64_t> traces_;  // (context, callstack)
  std::vector<std::uint32_t> node_of_trace_;
  std::vector<query::StackResolver::Request> requests_;  // of the traces that have no node yet
  std::vector<std::uint32_t> resolved_;
};

}  // namespace stackpack::exporting
