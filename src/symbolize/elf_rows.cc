#include "symbolize/elf_rows.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "symbolize/linked_names.h"

namespace stackpack::symbolize {

namespace {

/// Makes rows of what symbols and debug information say of addresses, which come ascending.
class ElfRowMaker {
 public:
  ElfRowMaker(const ElfFindings& found, const SymbolRequest& request, NameCollector& names)
      : layout_(found.layout),
        symbols_(found.symbols),
        names_(names),
        linked_(request.limits, names) {}

  /// The function that has an address, or begins after it.
  void add_symbol(const ElfSymbol& symbol) {
    if (&symbol == last_symbol_) {
      return;
    }
    last_symbol_ = &symbol;
    const LinkedName name = linked_.add(symbol.name);
    add_function(symbol.start, symbol.size, symbol.source, name);
    for (const ElfSymbol& alias : symbols_.aliases_of(symbol)) {
      names_.add_alias(name.name, linked_.add_alias(alias.name));
    }
  }

  void add_dwarf_function(const DwarfPlace& place) {
    if (place.function_begin != last_begin_) {
      last_begin_ = place.function_begin;
      add_function(place.function_begin, place.function_end - place.function_begin,
                   FunctionSource::kDwarf, place.function);
    }
  }

  /// A line that is that of the bytes [begin, end), `address` among them.
  void add_line(std::uint64_t address, std::uint64_t begin, std::uint64_t end,
                const DwarfPlace& place) {
    const std::optional<std::uint64_t> offset = layout_.offset_of(address);
    const std::uint64_t before = address - begin;
    if (!offset || *offset < before) {
      return;
    }
    CodeLine line;
    line.owner = FunctionOwner::kImage;
    line.start = *offset - before;
    line.size = end - begin;
    line.inlined = place.inlined;
    line.file = place.file;
    line.line = place.line;
    names_.add_line(line);
  }

 private:
  void add_function(std::uint64_t address, std::uint64_t size, FunctionSource source,
                    const LinkedName& name) {
    const std::optional<std::uint64_t> offset = layout_.offset_of(address);
    if (!offset || name.name == kNoText) {
      return;
    }
    Function function;
    function.owner = FunctionOwner::kImage;
    function.start = *offset;
    function.size = size;
    function.source = source;
    function.name = name.name;
    function.linkage = name.linkage;
    names_.add_function(function);
  }

  const ElfIdentity& layout_;
  const ElfSymbols& symbols_;
  NameCollector& names_;
  LinkedNames linked_;
  const ElfSymbol* last_symbol_ = nullptr;
  std::uint64_t last_begin_ = ~std::uint64_t{0};
};

bool same_place(const DwarfPlace& a, const DwarfPlace& b) {
  return a.inlined == b.inlined && a.file == b.file && a.line == b.line;
}

/// Goes through the addresses, and makes one row of those that have a line in common.
class ElfRowSweep {
 public:
  ElfRowSweep(const ElfFindings& found, const SymbolRequest& request, NameCollector& names)
      : found_(found), request_(request), rows_(found, request, names), symbols_(found.symbols) {}

  void run() {
    for (std::size_t i = 0; i < found_.addresses.size(); ++i) {
      const ElfSymbol* const symbol = symbols_.find(found_.addresses[i]);
      const DwarfPlace& place = found_.places[i];
      if (add_function(i, symbol) && request_.inlines &&
          (place.file != kNoText || place.inlined != kNoInline)) {
        i = add_line(i, symbol);
      }
    }
  }

 private:
  // Whether address `i` is in a function.
  bool add_function(std::size_t i, const ElfSymbol* symbol) {
    if (symbol != nullptr) {
      rows_.add_symbol(*symbol);
      return true;
    }
    if (found_.places[i].function_end != 0) {
      rows_.add_dwarf_function(found_.places[i]);
      return true;
    }
    // A caller's address may be that of the byte before a function which nothing calls.
    if (const ElfSymbol* const next = symbols_.begins_at(found_.addresses[i] + 1);
        next != nullptr) {
      rows_.add_symbol(*next);
    }
    return false;
  }

  // Adds the line of address `i`, and the functions of those after it that have the same line.
  // The last of them.
  std::size_t add_line(std::size_t i, const ElfSymbol* symbol) {
    const std::span<const std::uint64_t> addresses = found_.addresses;
    const DwarfPlace& place = found_.places[i];
    std::uint64_t begin = std::max(place.begin, free_from_);
    std::uint64_t end = place.end;
    if (symbol != nullptr) {
      begin = std::max(begin, symbol->start);
      end = std::min(end, symbol->start + symbol->size);
    }
    std::size_t last = i;
    while (last + 1 < addresses.size() && addresses[last + 1] < end &&
           same_place(place, found_.places[last + 1])) {
      ++last;
    }
    if (last + 1 < addresses.size()) {
      end = std::min(end, addresses[last + 1]);
    }
    begin = std::min(begin, addresses[i]);
    end = std::max(end, addresses[last] + 1);
    rows_.add_line(addresses[i], begin, end, place);
    free_from_ = end;
    for (++i; i <= last; ++i) {
      if (const ElfSymbol* const other = symbols_.find(addresses[i]); other != nullptr) {
        rows_.add_symbol(*other);
      }
    }
    return last;
  }

  const ElfFindings& found_;
  const SymbolRequest& request_;
  ElfRowMaker rows_;
  ElfSymbols::Sweep symbols_;
  std::uint64_t free_from_ = 0;  // what lies before belongs to lines of addresses before
};

}  // namespace

void add_elf_rows(const ElfFindings& found, const SymbolRequest& request, NameCollector& names) {
  ElfRowSweep(found, request, names).run();
}

}  // namespace stackpack::symbolize
