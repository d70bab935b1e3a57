#include "query/naming/stack_entities.h"

namespace stackpack::query {

std::span<const std::uint32_t> StackEntities::of(std::span<const Frame> leaf_first,
                                                 std::uint32_t context) {
  if (context != context_) {
    path_.clear();
    context_ = context;
  }
  const std::size_t depth = leaf_first.size();
  std::size_t shared = 0;
  for (; shared < depth && shared < path_.size(); ++shared) {
    const std::size_t at = depth - 1 - shared;
    const PathFrame& known = path_[shared];
    if (known.frame != leaf_first[at] || known.use != entities_.use_of(leaf_first, at, context)) {
      break;
    }
  }
  path_.resize(shared);
  root_first_.resize(shared == 0 ? 0 : path_.back().end);
  for (; shared < depth; ++shared) {
    const std::size_t at = depth - 1 - shared;
    const AddressUse use = entities_.use_of(leaf_first, at, context);
    const auto inner_first = entities_.of(leaf_first[at], use, context);
    root_first_.insert(root_first_.end(), inner_first.rbegin(), inner_first.rend());
    path_.push_back({leaf_first[at], use, root_first_.size()});
  }
  leaf_first_.assign(root_first_.rbegin(), root_first_.rend());
  return leaf_first_;
}

}  // namespace stackpack::query
