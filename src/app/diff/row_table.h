// What is compared with what: the rows of a comparison, and how both sides count for them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/diff/renames.h"
#include "app/diff/side_profile.h"
#include "export/html/page_content.h"
#include "query/function_pattern.h"

namespace stackpack::app {

class Renames;

/// Rows, and to which of them the nodes of each side's tree belong.
struct RowTable {
  static constexpr std::uint32_t kNoRow = ~std::uint32_t{0};

  std::vector<RowName> names;
  std::vector<std::uint32_t> old_rows;  ///< by node of the old tree; the root has none
  std::vector<std::uint32_t> new_rows;
  /// By row, for callstacks: the row of what is left without the leaf, and the entity at the leaf;
  /// `names` is empty then, and path_text() spells them.
  std::vector<std::uint32_t> outer;
  std::vector<std::uint32_t> leaf;  ///< number of a name in `functions`
  std::vector<RowName> functions;

  [[nodiscard]] std::size_t size() const { return outer.empty() ? names.size() : outer.size(); }
  /// Root first, with ';' between.
  [[nodiscard]] std::string path_text(std::uint32_t row) const;
};

/// Pairs the functions, modules, lines or callstacks of both sides: those with one identity
/// (diff/function_identity.h), by the names of the new side. Lambdas of one function are one row
/// where the two sides do not have the same numbers of them. Errors: kLimit when the callstacks of
/// both sides together are too many.
Result<RowTable> pair_rows(const std::array<SideProfile, 2>& sides, DiffGrain by,
                           const Renames& renames);

/// How well a row fits what somebody typed.
query::FunctionPattern::Fit fit_of_row(const RowName& row, const query::FunctionPattern& pattern);

/// The row of an entity by itself, as pair_rows would name it.
RowName name_of_entity(const query::FrameEntity& entity, DiffGrain by);

}  // namespace stackpack::app
