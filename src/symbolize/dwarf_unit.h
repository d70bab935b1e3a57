#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <elfutils/libdw.h>

#include "stackpack/names.h"
#include "symbolize/linked_names.h"
#include "symbolize/name_collector.h"
#include "symbolize/symbol_request.h"

namespace stackpack::symbolize {

/// Where an address was compiled from.
struct DwarfPlace {
  std::uint32_t inlined = kNoInline;  ///< row of the innermost inlined call
  std::uint32_t file = kNoText;
  std::uint32_t line = 0;
  /// The addresses around it of which the same is true.
  std::uint64_t begin = 0;
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
  // The function that the address is in, where debug information has one.
  std::uint64_t function_begin = 0;
  std::uint64_t function_end = 0;  ///< 0: none
  LinkedName function;
};

/// What is looked for in debug information, and what was found so far.
struct DwarfSearch {
  DwarfSearch(std::span<const std::uint64_t> asked, const SymbolRequest& options,
              NameCollector& found)
      : addresses(asked),
        request(options),
        names(found),
        linked(options.limits, found),
        places(asked.size()) {}

  /// To be called when entries and texts of a file are gone: others may take their places.
  void forget_file() {
    functions.clear();
    files.clear();
  }

  std::span<const std::uint64_t> addresses;  ///< ascending
  const SymbolRequest& request;
  NameCollector& names;
  LinkedNames linked;
  std::vector<DwarfPlace> places;                         ///< one for each address
  std::unordered_map<const void*, LinkedName> functions;  ///< by entry
  std::unordered_map<const void*, std::uint32_t> files;   ///< texts of file names, by pointer
};

/// The entries of a unit, which may be in two files.
struct DwarfUnitEntries {
  Dwarf_Die code{};           ///< has the functions
  Dwarf_Die lines{};          ///< has the lines: of the skeleton, where they differ
  std::uint64_t bias = 0;     ///< to be added to the addresses of `code`
  std::string_view folder{};  ///< of files that `code` names without one
};

/// Looks up the addresses that lie in a unit. Whether all of it could be read: depths are bounded,
/// and whatever libdw makes of a hostile file is checked where this relies on it.
bool read_dwarf_unit(DwarfSearch& search, const DwarfUnitEntries& unit);

/// A text of an entry, or of what it is an instance of; null: none.
const char* dwarf_text(Dwarf_Die& entry, unsigned name);

/// A number of an entry itself; 0: none.
std::uint64_t dwarf_number(Dwarf_Die& entry, unsigned name);

}  // namespace stackpack::symbolize
