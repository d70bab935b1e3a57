#pragma once

#include <cstdint>
#include <vector>

#include "export/html/page_content.h"

namespace stackpack::exporting {

/// In which order a page has its functions and nodes. It depends on the content alone, not on the
/// numbers that functions and nodes happened to get.
struct PageOrder {
  std::vector<std::uint32_t> functions;  ///< the function at each place: often used ones first
  std::vector<std::uint32_t> function_places;  ///< and where a function is
  std::vector<std::uint32_t> nodes;            ///< the node at each place, depth first
  std::vector<std::uint32_t> node_places;
};

/// Children come by what they weigh with all below them, heaviest first, in the first measure of
/// all sides together. Memory: 24 bytes a node while it works, 8 after.
PageOrder order_of(const PageContent& content);

/// What each node weighs with all below it: a measure of all sides together. Saturates.
std::vector<std::uint64_t> totals_of(const PageContent& content, std::size_t measure);

}  // namespace stackpack::exporting
