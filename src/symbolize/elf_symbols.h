#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stackpack/model.h"
#include "stackpack/result.h"
#include "symbolize/alias_rank.h"

// libelf's handle of a file.
struct Elf;

namespace stackpack::symbolize {

/// A function of a symbol table.
struct ElfSymbol {
  std::uint64_t start = 0;  ///< address
  std::uint64_t size = 0;   ///< 0: not known; settle() makes it reach to the next function
  std::uint64_t room = 0;   ///< bytes to the end of its section; for those without a size
  FunctionSource source = FunctionSource::kSymtab;
  AliasRank rank;         ///< as far as it does not depend on the name
  std::string_view name;  ///< without its version
};

/// The functions in the symbol tables of the files of one image.
///
/// Functions are what the linker was told to be one, and labels in code, as assemblers write them,
/// but for those that an assembler keeps to itself: `.L1`, `$x`, and NASM's `.loop` of `code`,
/// which is `code.loop`. Several at one address are one function, as long as the longest, with the
/// name that alias_rank.h says. An address that lies in several functions belongs to the one that
/// begins last. A function without a size ends where the next symbol in code begins, of any kind,
/// or its section ends.
class ElfSymbols {
 public:
  ElfSymbols();
  ElfSymbols(const ElfSymbols&) = delete;
  ElfSymbols& operator=(const ElfSymbols&) = delete;
  ~ElfSymbols();

  /// Adds .symtab, .dynsym and what .gnu_debugdata holds. The file must stay open.
  /// Errors: std::bad_alloc, also where the library lacks memory.
  void add(Elf* file);

  /// Its name must outlive this.
  void add(const ElfSymbol& symbol) { functions_.push_back(symbol); }

  /// The address of a symbol of any kind in .symtab or .dynsym.
  static std::optional<std::uint64_t> address_of(Elf* file, std::string_view name);

  /// To be called when all files are added.
  void settle();

  [[nodiscard]] const std::vector<ElfSymbol>& functions() const { return functions_; }

  /// Other names of a function, the shortest first, so many: linkers that fold equal functions
  /// give one address to thousands.
  static constexpr std::size_t kMostAliases = 64;
  static constexpr std::size_t kMostAliasBytes = 4096;
  [[nodiscard]] std::span<const ElfSymbol> aliases_of(const ElfSymbol& function) const;

  /// Tables that could not be read, or not to the end.
  [[nodiscard]] std::uint64_t damaged_tables() const { return damaged_tables_; }

  /// Finds the functions of ascending addresses.
  class Sweep {
   public:
    explicit Sweep(const ElfSymbols& symbols) : symbols_(symbols.functions_) {}

    /// Null: in no function. `address` is not below that of the call before.
    const ElfSymbol* find(std::uint64_t address);

    /// The function that begins at `address`, above that of the last find(), or null.
    [[nodiscard]] const ElfSymbol* begins_at(std::uint64_t address) const;

   private:
    const std::vector<ElfSymbol>& symbols_;
    std::size_t next_ = 0;
    std::vector<std::size_t> open_;
  };

 private:
  struct Unpacked;  // a file that was within another one

  class Table;  // a table of symbols that is being read

  void drop_inner_labels();
  void find_ends();
  void add_table(Elf* file, std::size_t section, FunctionSource source);
  void add_packed(const char* bytes, std::size_t size);

  std::vector<ElfSymbol> functions_;
  std::vector<ElfSymbol> aliases_;           // by address; of functions that have another name
  std::vector<std::uint64_t> data_in_code_;  // where other symbols in code begin
  std::uint64_t damaged_tables_ = 0;
  std::vector<std::unique_ptr<Unpacked>> unpacked_;
};

}  // namespace stackpack::symbolize
