// The symbols of an ELF file as its linker wrote them, and the sections that have code. What names
// functions for people is elf_symbols.h; this is for tools that know symbols by address and order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::elf {
struct Section;
}

namespace stackpack::symbolize {

enum class SymbolKind : std::uint8_t { kNone, kVariable, kFunction, kSection, kFile, kOther };

/// Whether a symbol of an Arm or RISC-V file says where code or data begins, and names nothing.
[[nodiscard]] bool is_mapping_mark(unsigned machine, std::string_view name);

/// A row of .symtab.
struct TableSymbol {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t name = 0;  ///< where it begins in the table of names
  std::uint16_t section = 0;
  SymbolKind kind = SymbolKind::kNone;
  bool is_local = false;
};

/// Code of a linked file, by address.
struct CodeSection {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint16_t number = 0;
};

class SymbolTable {
 public:
  /// Reads .symtab, or .dynsym where there is none. Memory: that of the table.
  /// Errors: those of elf::read_headers; kUnsupported: no table, or a file that is not linked.
  static Result<SymbolTable> read(io::ByteSource& file);

  /// Those that are defined in a section, in the order of the file.
  [[nodiscard]] std::span<const TableSymbol> symbols() const { return symbols_; }
  /// Empty where the table of names is damaged. Valid as long as this.
  [[nodiscard]] std::string_view name_of(const TableSymbol& symbol) const;
  /// Sections with code, by address.
  [[nodiscard]] std::span<const CodeSection> code() const { return code_; }
  [[nodiscard]] bool is_in_code(const TableSymbol& symbol) const;
  [[nodiscard]] bool is_mark(const TableSymbol& symbol) const {
    return is_mapping_mark(machine_, name_of(symbol));
  }

 private:
  void note_code(const std::vector<elf::Section>& sections);

  std::vector<TableSymbol> symbols_;
  std::vector<std::byte> names_;
  std::vector<CodeSection> code_;
  std::vector<bool> is_code_;  // by section
  std::uint16_t machine_ = 0;
};

}  // namespace stackpack::symbolize
