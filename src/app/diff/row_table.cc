#include "app/diff/row_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "app/diff/renames.h"
#include "core/no_callstack.h"
#include "diff/function_identity.h"
#include "query/naming/entity_table.h"
#include "query/naming/stack_tree.h"

namespace stackpack::app {

namespace {

using query::StackTree;

// An entity by what stays of it in another build.
struct Identity {
  RowName name;
  std::string unnumbered;  // its name without the numbers that a compiler gives
};

// `renames`: of the old side, or null.
Identity identity_of(const query::FrameEntity& entity, DiffGrain by,
                     const Renames* renames = nullptr) {
  Identity identity;
  identity.name.module = diff::identity_of_module(entity.module);
  if (by == DiffGrain::kModule) {
    identity.name.name = diff::identity_of_module(entity.name);
    identity.unnumbered = identity.name.name;
  } else if (!entity.module.empty() && entity.name == "[" + entity.module + "]") {
    identity.name.name = "[" + identity.name.module + "]";
    identity.unnumbered = identity.name.name;
  } else {
    diff::FunctionIdentity function = diff::identity_of_function(entity.name);
    identity.name.name = std::move(function.exact);
    identity.unnumbered = std::move(function.unnumbered);
  }
  if (renames != nullptr) {
    const std::string own = identity.name.name;
    renames->apply(identity.name);
    identity.unnumbered = identity.name.name == own ? identity.unnumbered : identity.name.name;
  }
  identity.name.place = entity.place;
  identity.name.mode = entity.mode;
  identity.name.aliases = entity.aliases;
  return identity;
}

/// Rows of entities, numbered as they come.
class EntityRows {
 public:
  EntityRows(const std::array<SideProfile, 2>& sides, DiffGrain by, const Renames& renames) {
    for (std::size_t side = 0; side < sides.size(); ++side) {
      for (const query::FrameEntity& entity : sides[side].entities) {
        add(side, identity_of(entity, by, side == 0 ? &renames : nullptr));
      }
    }
    pair_unnumbered();
  }

  /// By entity of a side: 0 old, 1 new.
  [[nodiscard]] std::uint32_t row(std::size_t side, std::uint32_t entity) const {
    return rows_[side][entity];
  }
  [[nodiscard]] std::vector<RowName> take_names() { return names_.take(); }

 private:
  // A function whose name has numbers.
  struct Numbered {
    std::size_t side = 0;
    std::size_t entity = 0;
    std::uint32_t family = 0;
  };

  void add(std::size_t side, Identity identity) {
    if (identity.unnumbered != identity.name.name) {
      RowName family = identity.name;
      family.name = std::move(identity.unnumbered);
      numbered_.push_back({side, rows_[side].size(), families_.number(std::move(family))});
    }
    const std::uint32_t row = names_.number(std::move(identity.name));
    rows_[side].push_back(row);
    on_side_.resize(names_.size());
    on_side_[row][side] = true;
  }

  // Functions that differ in their numbers alone, where the sides do not have the same numbers: one
  // that was added counts all behind it on, so that no number says which is which. They are one.
  void pair_unnumbered() {
    struct Family {
      std::array<bool, 2> on_side{};
      bool differs = false;
      std::uint32_t row = RowTable::kNoRow;
    };
    std::vector<Family> found(families_.size());
    for (const auto& [side, entity, number] : numbered_) {
      found[number].on_side[side] = true;
      found[number].differs |= alone(rows_[side][entity]);
    }
    for (const auto& [side, entity, number] : numbered_) {
      Family& family = found[number];
      if (!family.differs || !family.on_side[0] || !family.on_side[1]) {
        continue;
      }
      if (family.row == RowTable::kNoRow) {
        family.row = names_.number(families_[number]);
      }
      rows_[side][entity] = family.row;
    }
  }

  [[nodiscard]] bool alone(std::uint32_t row) const {
    return !on_side_[row][0] || !on_side_[row][1];
  }

  std::array<std::vector<std::uint32_t>, 2> rows_;
  query::EntityTable names_;
  query::EntityTable families_;  // by their names without numbers
  std::vector<Numbered> numbered_;
  std::vector<std::array<bool, 2>> on_side_;  // by row
};

std::vector<std::uint32_t> rows_of_nodes(const SideProfile& side, std::size_t number,
                                         const EntityRows& rows) {
  std::vector<std::uint32_t> result(side.tree.node_count(), RowTable::kNoRow);
  for (std::uint32_t node = 1; node < result.size(); ++node) {
    result[node] = rows.row(number, side.tree.location(node));
  }
  return result;
}

// Paths of rows are rows: both trees in one.
Status join_paths(const SideProfile& side, std::vector<std::uint32_t>& rows, StackTree& joint) {
  rows[StackTree::kRoot] = StackTree::kRoot;
  for (std::uint32_t node = 1; node < rows.size(); ++node) {
    const Result<std::uint32_t> child = joint.child(rows[side.tree.parent(node)], rows[node]);
    if (!child) {
      return child.error();
    }
    rows[node] = *child;
  }
  return {};
}

}  // namespace

std::string RowTable::path_text(std::uint32_t row) const {
  std::vector<std::uint32_t> path;
  for (; row != StackTree::kRoot; row = outer[row]) {
    path.push_back(leaf[row]);
  }
  std::string text;
  for (auto entity = path.rbegin(); entity != path.rend(); ++entity) {
    text += (text.empty() ? "" : ";") + functions[*entity].name;
  }
  return text.empty() ? std::string(core::kNoCallstack) : text;
}

Result<RowTable> pair_rows(const std::array<SideProfile, 2>& sides, DiffGrain by,
                           const Renames& renames) {
  const auto& [before, after] = sides;
  EntityRows rows(sides, by, renames);
  RowTable table;
  table.old_rows = rows_of_nodes(before, 0, rows);
  table.new_rows = rows_of_nodes(after, 1, rows);
  table.names = rows.take_names();
  if (by != DiffGrain::kCallstack) {
    return table;
  }
  StackTree joint;
  for (const auto& [side, nodes] :
       {std::pair(&before, &table.old_rows), std::pair(&after, &table.new_rows)}) {
    if (const Status joined = join_paths(*side, *nodes, joint); !joined) {
      return joined.error();
    }
  }
  table.functions = std::move(table.names);
  table.names.clear();
  for (std::uint32_t node = 0; node < joint.node_count(); ++node) {
    table.outer.push_back(joint.parent(node));
    table.leaf.push_back(joint.location(node));
  }
  return table;
}

RowName name_of_entity(const query::FrameEntity& entity, DiffGrain by) {
  return identity_of(entity, by).name;
}

query::FunctionPattern::Fit fit_of_row(const RowName& row, const query::FunctionPattern& pattern) {
  return pattern.fit(row.name, row.module, row.aliases);
}

}  // namespace stackpack::app
