#include "formats/stacks/text_tree.h"

#include <algorithm>

#include "formats/stacks/stacks_losses.h"

namespace stackpack::stacks {

Status TextTree::write(const Node& node) {
  if (node.rest.digits == 0) {
    return {};
  }
  stack_.clear();
  for (const Node& frame : path_) {
    stack_.push_back(frame.address);
  }
  if (order_ != TreeOrder::kTotalInverted) {
    std::reverse(stack_.begin(), stack_.end());
  }
  StackOwner owner;
  owner.event = node.event;
  return writer_.add(stack_, owner, node.rest, node.offset);
}

Status TextTree::end_from(std::size_t depth) {
  while (!path_.empty() && path_.back().depth >= depth) {
    if (const Status written = write(path_.back()); !written) {
      return written;
    }
    path_.pop_back();
  }
  return {};
}

// Totals are whole numbers.
void TextTree::take_from_caller(const core::DecimalWeight& weight, std::uint64_t offset) {
  if (order_ == TreeOrder::kSelf || path_.empty()) {
    return;
  }
  std::uint64_t& rest = path_.back().rest.digits;
  if (weight.digits > rest) {
    writer_.lose(loss::kSumsDiffer, offset);
  }
  rest -= std::min(rest, weight.digits);
}

Status TextTree::add(const StackLine& node, std::uint64_t offset) {
  if (const Status ended = end_from(node.depth); !ended) {
    return ended;
  }
  const auto address = writer_.address_of(node.frame);
  if (!address) {
    return Error{ErrorCode::kLimit, offset, "stacks: too many names"};
  }
  const core::DecimalWeight weight = node.weight.value_or(core::DecimalWeight{});
  take_from_caller(weight, offset);
  path_.push_back({*address, node.depth, weight,
                   std::string(node.event.empty() ? kSamples : node.event), offset});
  return {};
}

}  // namespace stackpack::stacks
