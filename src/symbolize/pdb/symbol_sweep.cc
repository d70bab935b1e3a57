#include "symbolize/pdb/symbol_sweep.h"

#include <algorithm>
#include <tuple>

#include "core/sort_rows.h"

namespace stackpack::symbolize {

SymbolSweep::SymbolSweep(std::span<const std::uint32_t> addresses, const PdbTables& tables)
    : addresses_(addresses),
      tables_(tables),
      last_start_(addresses.size(), 0),
      next_start_(addresses.size(), ~std::uint64_t{0}),
      publics_(addresses.size()) {}

std::size_t SymbolSweep::first_from(std::uint32_t start) const {
  return static_cast<std::size_t>(std::lower_bound(addresses_.begin(), addresses_.end(), start) -
                                  addresses_.begin());
}

bool SymbolSweep::asked(std::uint32_t start, std::uint32_t size) const {
  const std::size_t first = first_from(start);
  return first < addresses_.size() && addresses_[first] - start < size;
}

// What lies between the addresses on both sides of a start is of no interest: each start is kept
// at these two only, and spreads to the others in the end.
void SymbolSweep::note_start(std::uint32_t start, std::size_t first) {
  if (first < addresses_.size()) {
    last_start_[first] = std::max(last_start_[first], std::uint64_t{start} + 1);
  }
  if (first > 0) {
    next_start_[first - 1] = std::min<std::uint64_t>(next_start_[first - 1], start);
  }
}

void SymbolSweep::add_procedure(const SymbolChoice& procedure, std::string_view name) {
  const std::size_t first = first_from(procedure.start);
  note_start(procedure.start, first);
  if (first == addresses_.size() || addresses_[first] - procedure.start >= procedure.size ||
      procedure.size > ~std::uint32_t{0} - procedure.start) {
    return;
  }
  SymbolChoice& added = procedures_.emplace_back(procedure);
  added.procedure = true;
  added.name = static_cast<std::uint32_t>(texts_.size());
  texts_.add(name);
}

void SymbolSweep::add_public(std::uint32_t start, std::uint32_t flags, std::string_view name) {
  const std::size_t first = first_from(start);
  note_start(start, first);
  if (first == addresses_.size()) {
    return;
  }
  PublicSymbol& known = publics_[first];
  if (known.name != kNoText &&
      std::tuple(start, flags, name) <= std::tuple(known.start, known.flags, texts_[known.name])) {
    return;
  }
  known = {start, flags, static_cast<std::uint32_t>(texts_.size())};
  texts_.add(name);
}

void SymbolSweep::sort_procedures() {
  core::sort_rows(procedures_, [this](const SymbolChoice& a, const SymbolChoice& b) {
    return std::tuple(a.start, a.size, texts_[a.name]) <
           std::tuple(b.start, b.size, texts_[b.name]);
  });
}

std::optional<SymbolChoice> SymbolSweep::procedure_at(std::uint32_t address) const {
  const auto after = std::upper_bound(
      procedures_.begin(), procedures_.end(), address,
      [](std::uint32_t wanted, const SymbolChoice& row) { return wanted < row.start; });
  if (after == procedures_.begin() || address - (after - 1)->start >= (after - 1)->size) {
    return std::nullopt;
  }
  return *(after - 1);
}

// End of the contribution, or section, that has both; 0 when there is none.
std::uint32_t SymbolSweep::end_of_piece(std::uint32_t start, std::uint32_t address) const {
  const std::vector<RvaRange>& pieces =
      tables_.contributions.empty() ? tables_.sections : tables_.contributions;
  const auto after = std::upper_bound(
      pieces.begin(), pieces.end(), address,
      [](std::uint32_t wanted, const RvaRange& piece) { return wanted < piece.start; });
  if (after == pieces.begin()) {
    return 0;
  }
  const RvaRange& piece = *(after - 1);
  const bool holds = piece.start <= start && address - piece.start < piece.size;
  return holds && piece.size <= ~std::uint32_t{0} - piece.start ? piece.start + piece.size : 0;
}

std::vector<std::optional<SymbolChoice>> SymbolSweep::choose() {
  sort_procedures();
  for (std::size_t i = 1; i < addresses_.size(); ++i) {
    last_start_[i] = std::max(last_start_[i], last_start_[i - 1]);
    if (publics_[i].name == kNoText) {
      publics_[i] = publics_[i - 1];
    }
  }
  for (std::size_t i = addresses_.size(); i-- > 1;) {
    next_start_[i - 1] = std::min(next_start_[i - 1], next_start_[i]);
  }
  std::vector<std::optional<SymbolChoice>> choices(addresses_.size());
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    const std::uint32_t address = addresses_[i];
    choices[i] = procedure_at(address);
    const PublicSymbol& symbol = publics_[i];
    if (choices[i] || symbol.name == kNoText || symbol.start + std::uint64_t{1} < last_start_[i]) {
      continue;  // a procedure began after the public symbol, and ended
    }
    const std::uint64_t end =
        std::min<std::uint64_t>(end_of_piece(symbol.start, address), next_start_[i]);
    if (end <= address) {
      continue;
    }
    SymbolChoice choice;
    choice.start = symbol.start;
    if (const auto around = procedure_at(symbol.start); around && around->start < symbol.start) {
      choice.start = around->start + around->size;
    }
    choice.size = static_cast<std::uint32_t>(end) - choice.start;
    choice.name = symbol.name;
    choices[i] = choice;
  }
  return choices;
}

}  // namespace stackpack::symbolize
