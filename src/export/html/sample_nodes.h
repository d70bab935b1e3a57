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
/// Memory: 20 bytes for each callstack in a mapping context, up to a limit; then it starts anew.
class SampleNodes {
 public:
  /// `resolver` must outlive this. `memory_limit`: bytes.
  SampleNodes(query::StackResolver& resolver, std::uint64_t memory_limit);

  /// The node of each sample, into `nodes` (replaced). Errors: those of the resolver.
  Status find(std::span<const query::SummedSample> samples, std::vector<std::uint32_t>& nodes);

 private:
  query::StackResolver& resolver_;
  std::size_t limit_;
  core::NumberTable<std::uint64_t> traces_;  // (context, callstack)
  std::vector<std::uint32_t> node_of_trace_;
  std::vector<query::StackResolver::Request> requests_;  // of the traces that have no node yet
  std::vector<std::uint32_t> resolved_;
};

}  // namespace stackpack::exporting
