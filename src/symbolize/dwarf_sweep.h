#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stackpack/names.h"
#include "symbolize/linked_names.h"
#include "symbolize/name_collector.h"
#include "symbolize/symbol_request.h"

// libdw's handles.
struct Dwarf;

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

/// Looks addresses up in DWARF 4 and 5, all at once: each unit that has any of them is walked once.
///
/// The debug information may be hostile: depths are bounded, and whatever libdw makes of it is
/// checked where this relies on it. Where it never ends the limit of the process does.
class DwarfSweep {
 public:
  /// `addresses`: ascending. All must outlive this.
  DwarfSweep(std::span<const std::uint64_t> addresses, const SymbolRequest& request,
             NameCollector& names);
  DwarfSweep(const DwarfSweep&) = delete;
  DwarfSweep& operator=(const DwarfSweep&) = delete;
  ~DwarfSweep();

  /// Decides whether libdw may open the .dwo file of a unit, by the two names that it has.
  using MayOpen = std::function<bool(std::string_view folder, std::string_view name)>;

  /// Called when some more of a file was read that is not needed again soon.
  using Release = std::function<void()>;

  /// Adds what a file says; units of which something cannot be read are counted in the losses.
  /// Errors: std::bad_alloc, also where the library lacks memory.
  void add(Dwarf* file, const MayOpen& may_open_split, const Release& release);

  /// One for each address.
  [[nodiscard]] std::span<const DwarfPlace> places() const { return places_; }

 private:
  class Unit;
  class File;

  std::span<const std::uint64_t> addresses_;
  const SymbolRequest& request_;
  NameCollector& names_;
  LinkedNames linked_;
  std::vector<DwarfPlace> places_;
  std::unordered_map<const void*, LinkedName> functions_;  // by entry
  std::unordered_map<const void*, std::uint32_t> files_;   // texts of file names, by pointer
};

}  // namespace stackpack::symbolize
