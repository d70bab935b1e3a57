#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stackpack/names.h"
#include "symbolize/name_collector.h"
#include "symbols/range_index.h"

namespace stackpack::app {

/// The names of a file and what is added to them.
///
/// What a file says of an address stays: a function or a line is added only when it has an asked
/// address of which nothing was said. So adding the same twice changes nothing.
class AddedNames {
 public:
  /// `first_rows`: for each module the first row of the same image. Both must outlive this.
  AddedNames(const Names& old, std::span<const std::uint32_t> first_rows);

  /// How many of the asked addresses have what.
  struct Counts {
    std::uint64_t named = 0;
    std::uint64_t lines = 0;
  };

  /// Adds what `found` says of the `asked` addresses (ascending) of an owner, and no more of it.
  /// The counts are of the old names and the added ones together.
  Counts add(const Names& found, const symbols::RangeOwner& owner,
             std::span<const std::uint64_t> asked);

  /// All of them, in the order of a file.
  [[nodiscard]] Names finish() && { return std::move(all_).finish(); }

  /// Whether anything was added.
  [[nodiscard]] bool changed() const { return changed_; }

 private:
  std::uint32_t copy_call(const Names& from, std::uint32_t row, std::vector<std::uint32_t>& rows);
  void copy(const Names& from, Function row);
  void copy(const Names& from, const FunctionAlias& row);
  void copy(const Names& from, CodeLine row, std::vector<std::uint32_t>& calls);

  const Names& old_;
  symbols::RangeIndex<Function> functions_;
  symbols::RangeIndex<CodeLine> lines_;
  symbolize::NameCollector all_;
  bool changed_ = false;
};

}  // namespace stackpack::app
