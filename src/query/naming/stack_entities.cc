#include "query/naming/stack_entities.h"

#include <optional>

namespace stackpack::query {

std::span<const std::uint32_t> StackEntities::of(std::span<const Frame> leaf_first,
                                                 std::uint32_t context) {
  const std::size_t broken = broken_ ? broken_->count(leaf_first, context) : 0;
  if (context != context_ || is_broken_ != (broken != 0)) {
    walk_.clear();
    context_ = context;
    is_broken_ = broken != 0;
  }
  leaf_first = leaf_first.first(leaf_first.size() - broken);
  const auto use_of = [&](std::size_t index) {
    return entities_.use_of(leaf_first, index, context);
  };
  const auto look_up = [&](const PlacedFrame& placed, std::size_t, const std::size_t* caller) {
    // What an earlier callstack had below the caller goes.
    root_first_.resize(caller == nullptr ? 0 : *caller);
    if (caller == nullptr && is_broken_) {
      root_first_.push_back(entities_.broken_root());
    }
    const auto inner_first = entities_.of(placed.frame, placed.use, context);
    root_first_.insert(root_first_.end(), inner_first.rbegin(), inner_first.rend());
    return std::optional(root_first_.size());
  };
  walk_.go_on(leaf_first, use_of, look_up);
  root_first_.resize(leaf_first.empty() ? 0 : walk_.path().back().step);
  leaf_first_.assign(root_first_.rbegin(), root_first_.rend());
  return leaf_first_;
}

}  // namespace stackpack::query
