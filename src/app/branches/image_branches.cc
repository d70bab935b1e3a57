#include "app/branches/image_branches.h"

#include <algorithm>
#include <optional>
#include <string>

#include "capture/branch_order.h"

namespace stackpack::app {

namespace {

using capture::saturating_sum;

// How many runs of a range count.
std::uint64_t kept_runs(const BranchRange& range, const BranchRules& rules) {
  const std::uint64_t bytes = range.end - range.begin;
  if (rules.longest_range != 0 && bytes > rules.longest_range) {
    return 0;
  }
  const bool repeated = !rules.head_duplicates && bytes > BranchRules::kMostRepeated;
  const std::uint64_t left_out =
      saturating_sum(repeated ? range.head_duplicates : 0, rules.wrong_path ? 0 : range.wrong_path);
  return range.count - std::min(left_out, range.count);
}

void add_edge(ImageBranches& image, const ImageBranches::Ends& ends, const BranchEdge& edge) {
  ImageBranches::Sums& sums = image.edges[ends];
  sums.count = saturating_sum(sums.count, edge.count);
  sums.mispredicted = saturating_sum(sums.mispredicted, edge.mispredicted);
}

}  // namespace

std::uint64_t ImageBranches::taken() const {
  std::uint64_t sum = 0;
  for (const auto& [ends, sums] : edges) {
    sum = saturating_sum(sum, ends.first ? sums.count : 0);
  }
  return sum;
}

std::uint64_t ImageBranches::covered_bytes() const {
  std::uint64_t bytes = 0;
  std::uint64_t next = 0;  // first byte that is not counted yet
  for (const auto& [range, count] : ranges) {
    const std::uint64_t begin = std::max(range.first, next);
    // The last byte that there can be has no next one, and no code.
    const std::uint64_t end = std::min(range.second, ~std::uint64_t{0} - 1);
    if (end >= begin) {
      bytes += end - begin + 1;
      next = end + 1;
    }
  }
  return bytes;
}

std::vector<std::uint32_t> image_rows(std::span<const Module> modules) {
  std::map<std::pair<std::vector<std::uint8_t>, std::string>, std::uint32_t> firsts;
  std::vector<std::uint32_t> rows;
  rows.reserve(modules.size());
  for (const Module& module : modules) {
    const std::string path = module.build_id.empty() ? module.path : std::string();
    rows.push_back(
        firsts.try_emplace({module.build_id, path}, static_cast<std::uint32_t>(rows.size()))
            .first->second);
  }
  return rows;
}

std::map<std::uint32_t, ImageBranches> branches_by_image(const Branches& branches,
                                                         const BranchRules& rules) {
  std::map<std::uint32_t, ImageBranches> images;
  for (const BranchEdge& edge : branches.edges) {
    if (edge.wrong_path && !rules.wrong_path) {
      continue;
    }
    const bool inside = edge.from_image == edge.to_image;
    if (edge.from_image != kNoImage) {
      add_edge(images[edge.from_image], {edge.from, inside ? std::optional(edge.to) : std::nullopt},
               edge);
    }
    if (edge.to_image != kNoImage && !inside) {
      add_edge(images[edge.to_image], {std::nullopt, edge.to}, edge);
    }
  }
  for (const BranchRange& range : branches.ranges) {
    if (const std::uint64_t runs = kept_runs(range, rules); runs != 0) {
      std::uint64_t& sum = images[range.image].ranges[{range.begin, range.end}];
      sum = saturating_sum(sum, runs);
    }
  }
  return images;
}

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
