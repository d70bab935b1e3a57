#pragma once

#include <cstdint>
#include <span>

#include "symbolize/dwarf_sweep.h"
#include "symbolize/elf_identity.h"
#include "symbolize/elf_symbols.h"
#include "symbolize/name_collector.h"
#include "symbolize/symbol_request.h"

namespace stackpack::symbolize {

/// What is known of the addresses of an image.
struct ElfFindings {
  const ElfIdentity& layout;
  std::span<const std::uint64_t> addresses;  ///< ascending, distinct
  const ElfSymbols& symbols;                 ///< settled
  std::span<const DwarfPlace> places;        ///< one for each address
};

/// Adds the functions and lines that symbols and debug information have for the addresses: of both
/// the symbol counts, and no line reaches beyond what is known to have it.
void add_elf_rows(const ElfFindings& found, const SymbolRequest& request, NameCollector& names);

}  // namespace stackpack::symbolize
