#include "export/html/sample_nodes.h"

#include <algorithm>

namespace stackpack::exporting {

namespace {

constexpr std::uint64_t kBytesPerTrace = 24;

}  // namespace

SampleNodes::SampleNodes(query::StackResolver& resolver, std::uint64_t memory_limit)
    : resolver_(resolver), limit_(static_cast<std::size_t>(memory_limit / kBytesPerTrace)) {}

Status SampleNodes::find(std::span<const query::SummedSample> samples,
                         std::vector<std::uint32_t>& nodes) {
  if (traces_.size() > limit_) {
    traces_.clear();
    node_of_trace_.clear();
  }
  nodes.clear();
  requests_.clear();
  for (const query::SummedSample& sample : samples) {
    const std::uint32_t trace = traces_.number(std::uint64_t{sample.context} << 32 | sample.stack);
    nodes.push_back(trace);
    if (trace == node_of_trace_.size() + requests_.size()) {
      requests_.push_back({sample.stack, sample.context, query::StackTree::kRoot});
    }
  }
  if (!requests_.empty()) {
    if (const Status status = resolver_.resolve(requests_, resolved_); !status) {
      return status;
    }
    node_of_trace_.insert(node_of_trace_.end(), resolved_.begin(), resolved_.end());
  }
  for (std::uint32_t& node : nodes) {
    node = node_of_trace_[node];
  }
  return {};
}

}  // namespace stackpack::exporting
