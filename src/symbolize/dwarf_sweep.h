#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "symbolize/dwarf_unit.h"
#include "symbolize/name_collector.h"
#include "symbolize/symbol_request.h"

// libdw's and libelf's handles.
struct Dwarf;
struct Elf;

namespace stackpack::symbolize {

/// Looks addresses up in DWARF 4 and 5, all at once: each unit that has any of them is walked once.
///
/// The debug information may be hostile: depths are bounded, and whatever libdw makes of it is
/// checked where this relies on it. Where it never ends the limit of the process does.
class DwarfSweep {
 public:
  /// `addresses`: ascending. All must outlive this.
  DwarfSweep(std::span<const std::uint64_t> addresses, const SymbolRequest& request,
             NameCollector& names)
      : search_(addresses, request, names) {}
  /// Decides whether libdw may open the .dwo file of a unit, by the two names that it has.
  using MayOpen = std::function<bool(std::string_view folder, std::string_view name)>;

  /// Called when some more of a file was read that is not needed again soon.
  using Release = std::function<void()>;

  /// What a file is read with.
  struct Access {
    MayOpen may_open_split;
    Release release;
    Elf* linked = nullptr;   ///< the file itself
    Elf* package = nullptr;  ///< of its split units; null: none
  };

  /// Adds what a file says; units of which something cannot be read are counted in the losses.
  /// Errors: std::bad_alloc, also where the library lacks memory.
  void add(Dwarf* file, const Access& access);

  /// One for each address.
  [[nodiscard]] std::span<const DwarfPlace> places() const { return search_.places; }

 private:
  class File;

  DwarfSearch search_;
};

}  // namespace stackpack::symbolize
