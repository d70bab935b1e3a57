#include "export/html/sample_nodes.h"

#include <algorithm>

namespace stackpack::exporting {

namespace {

constexpr std::uint64_t kBytesPerTrace = 24;
constexpr std::uint32_t kNoContext = ~std::uint32_t{0};
// How far ahead of the samples their places are fetched: of many callstacks, they lie beyond the
// caches.
constexpr std::size_t kPlacesAhead = 24;

std::uint64_t trace_of(StackId stack, std::uint32_t context) {
  return std::uint64_t{context} << 32 | stack;
}

}  // namespace

SampleNodes::SampleNodes(query::StackResolver& resolver, std::uint64_t stack_count,
                         std::uint64_t memory_limit)
    : resolver_(resolver), limit_(static_cast<std::size_t>(memory_limit / kBytesPerTrace)) {
  if (stack_count <= limit_) {
    places_.resize(static_cast<std::size_t>(stack_count));
  }
}

void SampleNodes::add_trace(std::uint64_t trace, std::uint32_t node) {
  if (traces_.number(trace) == node_of_trace_.size()) {
    node_of_trace_.push_back(node);
  }
}

void SampleNodes::add(StackId stack, std::uint32_t context, std::uint32_t node) {
  if (stack < places_.size() && places_[stack].context == kNoContext) {
    places_[stack] = {context, node};
  } else if (stack != kNoStack && traces_.size() < limit_ &&
             (stack >= places_.size() || places_[stack].context != context)) {
    add_trace(trace_of(stack, context), node);
  }
}

// The nodes of others_.
Status SampleNodes::find_others(std::span<const query::SummedSample> samples,
                                std::vector<std::uint32_t>& nodes) {
  if (traces_.size() > limit_) {
    traces_.clear();
    node_of_trace_.clear();
  }
  requests_.clear();
  for (const std::uint32_t i : others_) {
    const query::SummedSample& sample = samples[i];
    const std::uint32_t trace = traces_.number(trace_of(sample.stack, sample.context));
    nodes[i] = trace;
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
  for (const std::uint32_t i : others_) {
    nodes[i] = node_of_trace_[nodes[i]];
  }
  return {};
}

Status SampleNodes::find(std::span<const query::SummedSample> samples,
                         std::vector<std::uint32_t>& nodes) {
  nodes.resize(samples.size());
  others_.clear();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Place* const next =
        place_of(samples[std::min(i + kPlacesAhead, samples.size() - 1)].stack);
    if (next != nullptr) {
      __builtin_prefetch(next);
    }
    const query::SummedSample& sample = samples[i];
    const Place* const place = place_of(sample.stack);
    if (place != nullptr && place->context == sample.context) {
      nodes[i] = place->node;
    } else if (sample.stack == kNoStack) {
      nodes[i] = query::StackTree::kRoot;
    } else {
      others_.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return others_.empty() ? Status{} : find_others(samples, nodes);
}

}  // namespace stackpack::exporting
