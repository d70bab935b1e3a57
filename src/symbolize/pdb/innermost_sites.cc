#include "symbolize/pdb/innermost_sites.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "core/sort_rows.h"

namespace stackpack::symbolize {

InnermostSites::InnermostSites(const InlineTree& tree) {
  for (const SiteRange& range : tree.ranges) {
    boundaries_.push_back(range.begin);
    boundaries_.push_back(range.end);
  }
  std::sort(boundaries_.begin(), boundaries_.end());
  cut(tree);
}

// Cuts the procedure where a range begins or ends, and notes the innermost site of each piece.
void InnermostSites::cut(const InlineTree& tree) {
  boundaries_.erase(std::unique(boundaries_.begin(), boundaries_.end()), boundaries_.end());
  innermost_.assign(boundaries_.size(), kNoSite);
  // Deeper sites first: a piece belongs to the first that has it, and is passed over from then
  // on.
  std::vector<std::uint32_t> by_depth(tree.sites.size());
  std::iota(by_depth.begin(), by_depth.end(), 0U);
  core::sort_rows(by_depth, [&tree](std::uint32_t a, std::uint32_t b) {
    return tree.sites[a].depth > tree.sites[b].depth;
  });
  std::vector<std::uint32_t> next_free(boundaries_.size() + 1);
  std::iota(next_free.begin(), next_free.end(), 0U);
  const auto free_from = [&](std::uint32_t piece) {
    while (next_free[piece] != piece) {
      next_free[piece] = next_free[next_free[piece]];
      piece = next_free[piece];
    }
    return piece;
  };
  for (const std::uint32_t site : by_depth) {
    const InlineSite& row = tree.sites[site];
    for (std::size_t r = row.first_range; r < row.first_range + row.range_count; ++r) {
      const auto first = static_cast<std::uint32_t>(
          std::lower_bound(boundaries_.begin(), boundaries_.end(), tree.ranges[r].begin) -
          boundaries_.begin());
      for (std::uint32_t piece = free_from(first);
           piece < boundaries_.size() && boundaries_[piece] < tree.ranges[r].end;
           piece = free_from(piece)) {
        innermost_[piece] = site;
        next_free[piece] = piece + 1;
      }
    }
  }
}

InnermostSites::Piece InnermostSites::at(std::uint32_t offset) const {
  Piece piece;
  const auto after = std::upper_bound(boundaries_.begin(), boundaries_.end(), offset);
  if (after != boundaries_.end()) {
    piece.end = *after;
  }
  if (after != boundaries_.begin()) {
    piece.begin = *(after - 1);
    piece.site = innermost_[static_cast<std::size_t>(after - 1 - boundaries_.begin())];
  }
  return piece;
}

}  // namespace stackpack::symbolize
