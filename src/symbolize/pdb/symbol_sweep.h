#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stackpack/names.h"
#include "symbolize/pdb/pdb_tables.h"

namespace stackpack::symbolize {

/// Where a procedure has no record of its own.
inline constexpr std::size_t kNoPosition = ~std::size_t{0};

/// The function that has an address, in RVAs that symbols have.
struct SymbolChoice {
  std::uint32_t start = 0;
  std::uint32_t size = 0;
  std::uint32_t name = kNoText;  ///< in SymbolSweep::texts
  bool procedure = false;
  std::uint32_t module = 0;  ///< procedure: whose record it is
  std::size_t position = 0;  ///< procedure: of its record in the symbols of the module
};

/// Takes the symbols of a PDB in any order and says which function each of some addresses is in.
///
/// Rules:  a procedure has its size, a public symbol ends where the next symbol or the end of its
///         contribution (without contributions: of its section) comes. Procedures win. Of
///         procedures with an address the one that begins last counts, then the larger one, then
///         the last one by name; of publics at one place the one with the higher flags, then by
///         name.
/// Memory: 24 bytes an address, and the symbols that have one of the addresses.
class SymbolSweep {
 public:
  /// `addresses`: ascending; `tables`: both must outlive this.
  SymbolSweep(std::span<const std::uint32_t> addresses, const PdbTables& tables);

  void add_procedure(const SymbolChoice& procedure, std::string_view name);
  void add_public(std::uint32_t start, std::uint32_t flags, std::string_view name);

  /// Whether one of the addresses is in the range.
  [[nodiscard]] bool asked(std::uint32_t start, std::uint32_t size) const;

  /// For each address, after all symbols were added.
  std::vector<std::optional<SymbolChoice>> choose();

  [[nodiscard]] const TextTable& texts() const { return texts_; }

 private:
  struct PublicSymbol {
    std::uint32_t start = 0;
    std::uint32_t flags = 0;
    std::uint32_t name = kNoText;
  };

  [[nodiscard]] std::size_t first_from(std::uint32_t start) const;
  void note_start(std::uint32_t start, std::size_t first);
  [[nodiscard]] std::uint32_t end_of_piece(std::uint32_t start, std::uint32_t address) const;
  [[nodiscard]] std::optional<SymbolChoice> procedure_at(std::uint32_t address) const;
  void sort_procedures();

  std::span<const std::uint32_t> addresses_;
  const PdbTables& tables_;
  TextTable texts_;
  std::vector<SymbolChoice> procedures_;
  // By address: the last symbol that begins at or before it (one more; 0: none), the first that
  // begins after it, and the last public symbol.
  std::vector<std::uint64_t> last_start_;
  std::vector<std::uint64_t> next_start_;
  std::vector<PublicSymbol> publics_;
};

}  // namespace stackpack::symbolize
