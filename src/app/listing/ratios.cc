#include "app/listing/ratios.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_map>

#include "core/figures.h"

namespace stackpack::app {

namespace {

void add_events(std::vector<EventCount>& sum, const std::vector<EventCount>& more) {
  sum.reserve(sum.size() + more.size());  // the names stay where they are
  std::unordered_map<std::string_view, std::size_t> known;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    known.try_emplace(sum[i].name, i);
  }
  for (const EventCount& event : more) {
    const auto found = known.find(event.name);
    if (found == known.end()) {
      sum.push_back(event);
      known.emplace(sum.back().name, sum.size() - 1);
    } else {
      sum[found->second].samples += event.samples;
    }
  }
}

void add_losses(std::vector<LossCounter>& sum, const std::vector<LossCounter>& more) {
  for (const LossCounter& loss : more) {
    const auto place = std::lower_bound(
        sum.begin(), sum.end(), loss,
        [](const LossCounter& left, const LossCounter& right) { return left.name < right.name; });
    if (place == sum.end() || place->name != loss.name) {
      // An offset means something in one file only.
      sum.insert(place, LossCounter{loss.name, loss.kind, loss.count, ~std::uint64_t{0}});
    } else {
      place->count += loss.count;
    }
  }
}

void add_skips(std::vector<SkippedBytesCount>& sum, const std::vector<SkippedBytesCount>& more) {
  for (const SkippedBytesCount& skip : more) {
    const auto place = std::lower_bound(
        sum.begin(), sum.end(), skip,
        [](const auto& left, const auto& right) { return left.reason < right.reason; });
    if (place == sum.end() || place->reason != skip.reason) {
      sum.insert(place, skip);
    } else {
      place->bytes += skip.bytes;
    }
  }
}

}  // namespace

void add_statistics(Statistics& sum, const Statistics& more) {
  if (sum.source_kind.empty()) {
    sum.source_kind = more.source_kind;
  } else if (sum.source_kind != more.source_kind) {
    sum.source_kind = "mixed";
  }
  for (const core::Figure& figure : core::kFigures) {
    std::uint64_t& value = figure.in(sum);
    const std::uint64_t other = figure.of(more);
    value = figure.sum == core::FigureSum::kHighest ? std::max(value, other) : value + other;
  }
  add_skips(sum.source_skipped_by_reason, more.source_skipped_by_reason);
  add_events(sum.events, more.events);
  add_losses(sum.losses, more.losses);
}

}  // namespace stackpack::app
