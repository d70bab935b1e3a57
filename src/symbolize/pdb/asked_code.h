#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stackpack/names.h"
#include "symbolize/pdb/pdb_tables.h"

namespace stackpack::symbolize {

/// An address asked for, where it is in the image and where it was before code was moved.
struct AskedAddress {
  std::uint32_t source = 0;
  std::uint32_t image = 0;
  /// The bytes around it that were moved together.
  std::uint32_t moved_begin = 0;
  std::uint64_t moved_end = std::uint64_t{1} << 32;
};

/// Where the code of the addresses was before, ascending by that; without those that the optimizer
/// made. `moves`: ascending, may be empty.
std::vector<AskedAddress> asked_addresses(std::span<const std::uint64_t> addresses,
                                          const std::vector<OmapEntry>& moves);

/// Puts [begin, end), where code was before, into the image: as far as it was moved together with
/// the address.
void place_code(const AskedAddress& asked, std::uint32_t begin, std::uint32_t end,
                CodeRange& range);

}  // namespace stackpack::symbolize
