#include "app/analysis/stack_filter.h"

#include <algorithm>
#include <span>
#include <utility>

namespace stackpack::app {

namespace {

using Patterns = std::vector<query::FunctionPattern>;

Status add_patterns(const std::vector<std::string>& texts, Patterns& patterns) {
  for (const std::string& text : texts) {
    Result<query::FunctionPattern> pattern = query::FunctionPattern::parse(text);
    if (!pattern) {
      return pattern.error();
    }
    patterns.push_back(std::move(*pattern));
  }
  return {};
}

bool fits_any(const Patterns& patterns, const query::FrameEntity& entity) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const query::FunctionPattern& pattern) {
    const std::span<const AliasList> aliases(entity.aliases);
    const auto fit = entity.function.empty()
                         ? pattern.fit(entity.name, entity.module, aliases)
                         : pattern.fit(entity.function, entity.function_module, aliases);
    return fit != query::FunctionPattern::Fit::kNone;
  });
}

}  // namespace

Result<StackFilter> StackFilter::create(const StackPatterns& patterns) {
  StackFilter filter;
  for (const auto& [texts, parsed] :
       {std::pair(&patterns.focus, &filter.focus_), std::pair(&patterns.ignore, &filter.ignore_),
        std::pair(&patterns.hide, &filter.hide_)}) {
    if (const Status added = add_patterns(*texts, *parsed); !added) {
      return added.error();
    }
  }
  return filter;
}

std::uint8_t StackFilter::roles_of(std::uint32_t entity, const query::FrameEntities& entities) {
  if (entity >= roles_.size()) {
    roles_.resize(std::size_t{entity} + 1);
  }
  std::uint8_t& roles = roles_[entity];
  if (roles == 0) {
    const query::FrameEntity& known = entities.all()[entity];
    roles = static_cast<std::uint8_t>(kKnown | (fits_any(focus_, known) ? kFocused : 0) |
                                      (fits_any(ignore_, known) ? kIgnored : 0) |
                                      (fits_any(hide_, known) ? kHidden : 0));
  }
  return roles;
}

std::optional<std::span<const std::uint32_t>> StackFilter::apply(
    std::span<const std::uint32_t> leaf_first, query::FrameEntities& entities) {
  if (empty()) {
    return leaf_first;
  }
  bool focused = focus_.empty();
  shown_.clear();
  for (const std::uint32_t entity : leaf_first) {
    const std::uint8_t roles = roles_of(entity, entities);
    if ((roles & kIgnored) != 0) {
      return std::nullopt;
    }
    focused |= (roles & kFocused) != 0;
    if ((roles & kHidden) == 0) {
      shown_.push_back(entities.whole_of(entity));
    }
  }
  return focused ? std::optional(std::span<const std::uint32_t>(shown_)) : std::nullopt;
}

}  // namespace stackpack::app
