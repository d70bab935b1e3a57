#include "symbolize/pdb/asked_code.h"

#include <algorithm>

#include "core/sort_rows.h"

namespace stackpack::symbolize {

std::vector<AskedAddress> asked_addresses(std::span<const std::uint64_t> addresses,
                                          const std::vector<OmapEntry>& moves) {
  std::vector<AskedAddress> asked;
  asked.reserve(addresses.size());
  for (const std::uint64_t address : addresses) {
    if (address > ~std::uint32_t{0}) {
      break;
    }
    AskedAddress row;
    row.image = static_cast<std::uint32_t>(address);
    row.source = row.image;
    if (!moves.empty()) {
      const auto after = std::upper_bound(
          moves.begin(), moves.end(), row.image,
          [](std::uint32_t wanted, const OmapEntry& entry) { return wanted < entry.from; });
      if (after == moves.begin() || (after - 1)->to == 0) {
        continue;  // code that the optimizer made
      }
      row.moved_begin = (after - 1)->from;
      row.moved_end = after == moves.end() ? row.moved_end : after->from;
      row.source = (after - 1)->to + (row.image - row.moved_begin);
    }
    asked.push_back(row);
  }
  core::sort_rows(asked,
                  [](const AskedAddress& a, const AskedAddress& b) { return a.source < b.source; });
  return asked;
}

void place_code(const AskedAddress& asked, std::uint32_t begin, std::uint32_t end,
                CodeRange& range) {
  const std::uint64_t before = std::min(asked.source - begin, asked.image - asked.moved_begin);
  const std::uint64_t after =
      std::min<std::uint64_t>(end - asked.source, asked.moved_end - asked.image);
  range.owner = FunctionOwner::kImage;
  range.start = asked.image - before;
  range.size = before + after;
}

}  // namespace stackpack::symbolize
