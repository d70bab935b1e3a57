#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bytes/byte_cursor.h"
#include "symbolize/pdb/module_lines.h"

namespace stackpack::symbolize {

inline constexpr std::uint32_t kNoSite = ~std::uint32_t{0};

/// Code [begin, end) that an inlined call became, and the line of the inlined function it is of.
struct SiteRange {
  std::uint32_t begin = 0;  ///< from the start of the procedure
  std::uint32_t end = 0;
  std::uint32_t file = 0;  ///< for ModuleLines::name_offset
  std::uint32_t line = 0;  ///< 0: not known
};

/// A call that was inlined into a procedure, or into another inlined one.
struct InlineSite {
  std::uint32_t parent = kNoSite;  ///< an earlier site
  std::uint32_t inlinee = 0;       ///< number of an item: see type_names.h
  std::uint32_t depth = 1;         ///< 1: right in the procedure
  std::size_t first_range = 0;     ///< in InlineTree::ranges; of one site they come by begin
  std::size_t range_count = 0;
};

/// All inlined calls of a procedure, those inside after what they are inside of.
struct InlineTree {
  std::vector<InlineSite> sites;
  std::vector<SiteRange> ranges;

  /// The range of the site that has an offset; null when there is none.
  [[nodiscard]] const SiteRange* range_at(const InlineSite& site, std::uint32_t offset) const;
};

/// Reads the inlined calls of the procedure whose record begins at `position` of the module's
/// symbols, in place of what `tree` has. Sites deeper than `max_depth` are left out.
/// Result: false when a record is damaged; what came before it is kept.
bool read_inline_sites(bytes::ByteCursor symbols, std::size_t position, const ModuleLines& lines,
                       std::size_t max_depth, InlineTree& tree);

}  // namespace stackpack::symbolize
