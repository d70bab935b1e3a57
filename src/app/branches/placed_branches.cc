#include "app/branches/placed_branches.h"

#include <optional>

#include "capture/branch_order.h"

namespace stackpack::app {

PlacedBranches place_branches(const ImageBranches& image, const symbolize::ElfIdentity& elf,
                              std::uint64_t origin) {
  PlacedBranches placed;
  const auto address_of = [&](std::uint64_t offset) -> std::optional<std::uint64_t> {
    const std::optional<std::uint64_t> address = elf.address_of(offset);
    return address ? std::optional(*address - origin) : std::nullopt;
  };
  for (const auto& [ends, sums] : image.edges) {
    const auto from = ends.first ? address_of(*ends.first) : std::nullopt;
    const auto to = ends.second ? address_of(*ends.second) : std::nullopt;
    if (from.has_value() != ends.first.has_value() || to.has_value() != ends.second.has_value()) {
      placed.unplaced = capture::saturating_sum(placed.unplaced, sums.count);
      continue;
    }
    ImageBranches::Sums& sum = placed.edges[{from, to}];
    sum.count = capture::saturating_sum(sum.count, sums.count);
    sum.mispredicted = capture::saturating_sum(sum.mispredicted, sums.mispredicted);
  }
  for (const auto& [range, count] : image.ranges) {
    const auto begin = address_of(range.first);
    const auto end = address_of(range.second);
    if (!begin || !end || *begin > *end) {
      placed.unplaced = capture::saturating_sum(placed.unplaced, count);
      continue;
    }
    std::uint64_t& sum = placed.ranges[{*begin, *end}];
    sum = capture::saturating_sum(sum, count);
  }
  return placed;
}

}  // namespace stackpack::app
