#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace stackpack::app {

/// A symbol table and the texts that it refers to.
struct SlimSymbols {
  std::vector<std::byte> table;
  std::vector<std::byte> texts;
  std::uint32_t locals = 0;  ///< entries before the first that is not local
};

/// What naming functions needs of a symbol table (ELF, little-endian, 64 bits): functions that are
/// defined, and the symbols by which a kernel's place is found. In order of address, which
/// compresses to half; a table that was made here is made again as it is.
/// Nothing: the table is damaged, and is better left as it is.
std::optional<SlimSymbols> make_slim_symbols(std::span<const std::byte> table,
                                             std::span<const std::byte> texts);

}  // namespace stackpack::app
