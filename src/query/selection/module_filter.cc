#include "query/selection/module_filter.h"

#include "core/sort_rows.h"
#include "query/name_pattern.h"
#include "query/selection/file_name.h"

namespace stackpack::query {

namespace {

constexpr std::size_t kMostVerdicts = std::size_t{1} << 20;

std::uint64_t key_of(const PlacedStack& place) {
  return (std::uint64_t{place.stack} << 32) | place.context;
}

}  // namespace

ModuleFilter::ModuleFilter(const CaptureView& view, const symbols::SymbolIndex& symbols,
                           const SampleFilter& filter)
    : view_(view),
      symbols_(symbols),
      filter_(filter),
      active_(!filter.modules.empty() || !filter.excluded_modules.empty()),
      some_needed_(!filter.modules.empty()) {
  const auto fits = [](const Module& module, const std::vector<std::string>& patterns) {
    return fits_any(module.path, patterns) || fits_any(file_name_of(module), patterns);
  };
  for (std::size_t i = 0; active_ && i < view.modules.size(); ++i) {
    needed_.push_back(fits(view.modules[i], filter.modules));
    excluded_.push_back(fits(view.modules[i], filter.excluded_modules));
  }
}

bool ModuleFilter::runs_through(const PlacedStack& place, std::span<const Frame> leaf_first) const {
  bool wanted = !some_needed_;
  for (std::size_t i = 0; i < leaf_first.size(); ++i) {
    const CodeLocation location =
        symbols_.locate(leaf_first[i], place.pid, place.time_ns,
                        symbols_.use_of(leaf_first, i, place.pid, place.time_ns));
    bool needed = false;
    bool excluded = false;
    if (location.module != nullptr) {
      const auto row = static_cast<std::size_t>(location.module - view_.modules.data());
      needed = needed_[row];
      excluded = excluded_[row];
    } else if (!location.has_address) {
      needed = fits_any(location.name, filter_.modules);
      excluded = fits_any(location.name, filter_.excluded_modules);
    }
    if (excluded) {
      return false;
    }
    wanted = wanted || needed;
  }
  return wanted;
}

Status ModuleFilter::judge(std::span<const PlacedStack> stacks, std::vector<bool>& wanted) {
  if (verdicts_.size() > kMostVerdicts) {
    verdicts_.clear();
  }
  std::vector<PlacedStack> open;
  for (const PlacedStack& place : stacks) {
    if (place.stack != kNoStack && verdicts_.try_emplace(key_of(place), false).second) {
      open.push_back(place);
    }
  }
  core::sort_rows(open,
                  [](const PlacedStack& a, const PlacedStack& b) { return key_of(a) < key_of(b); });
  std::vector<StackId> ids;
  ids.reserve(open.size());
  for (const PlacedStack& place : open) {
    ids.push_back(place.stack);
  }
  const Status read =
      view_.callstacks(ids, [&](std::size_t position, std::span<const Frame> frames) {
        verdicts_[key_of(open[position])] = runs_through(open[position], frames);
        return true;
      });
  if (!read) {
    return read;
  }
  wanted.clear();
  for (const PlacedStack& place : stacks) {
    wanted.push_back(place.stack == kNoStack ? !some_needed_ : verdicts_[key_of(place)]);
  }
  return {};
}

}  // namespace stackpack::query
