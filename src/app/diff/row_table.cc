#include "app/diff/row_table.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "app/diff/renames.h"
#include "diff/function_identity.h"
#include "query/naming/code_mode.h"
#include "query/naming/stack_tree.h"

namespace stackpack::app {

namespace {

using query::StackTree;

// An entity by what stays of it in another build.
struct Identity {
  RowName name;
  std::string exact;
  std::string unnumbered;
};

// `renames`: of the old side, or null.
Identity identity_of(const query::FrameEntity& entity, DiffGrain by,
                     const Renames* renames = nullptr) {
  Identity identity;
  identity.name.module = diff::identity_of_module(entity.module);
  std::string unnumbered;
  if (by == DiffGrain::kModule) {
    identity.name.name = diff::identity_of_module(entity.name);
    unnumbered = identity.name.name;
  } else if (!entity.module.empty() && entity.name == "[" + entity.module + "]") {
    identity.name.name = "[" + identity.name.module + "]";
    unnumbered = identity.name.name;
  } else {
    diff::FunctionIdentity function = diff::identity_of_function(entity.name);
    identity.name.name = std::move(function.exact);
    unnumbered = std::move(function.unnumbered);
  }
  if (renames != nullptr) {
    const std::string own = identity.name.name;
    renames->apply(identity.name);
    unnumbered = identity.name.name == own ? unnumbered : identity.name.name;
  }
  identity.name.place = entity.place;
  identity.name.mode = entity.mode;
  if (entity.aliases.texts) {
    identity.name.aliases.push_back(entity.aliases);
  }
  const std::string rest = '\0' + identity.name.module + '\0' + identity.name.place;
  identity.exact = identity.name.name + rest;
  identity.unnumbered = unnumbered + rest;
  return identity;
}

// What a row is called on one side it is called on both.
void add_aliases(const RowName& from, RowName& to) {
  for (const AliasList& list : from.aliases) {
    if (std::find(to.aliases.begin(), to.aliases.end(), list) == to.aliases.end()) {
      to.aliases.push_back(list);
    }
  }
}

/// Rows of entities, numbered as they come.
class EntityRows {
 public:
  EntityRows(const std::array<SideProfile, 2>& sides, DiffGrain by, const Renames& renames)
      : sides_{&sides[0], &sides[1]} {
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      for (const query::FrameEntity& entity : sides_[side]->entities) {
        identities_[side].push_back(identity_of(entity, by, side == 0 ? &renames : nullptr));
      }
    }
    pair_exactly();
    pair_unnumbered();
  }

  /// By entity of a side: 0 old, 1 new.
  [[nodiscard]] std::uint32_t row(std::size_t side, std::uint32_t entity) const {
    return rows_[side][entity];
  }
  [[nodiscard]] std::vector<RowName> take_names() { return std::move(names_); }

 private:
  std::uint32_t add(RowName name) {
    names_.push_back(std::move(name));
    return static_cast<std::uint32_t>(names_.size() - 1);
  }

  void pair_exactly() {
    std::unordered_map<std::string_view, std::uint32_t> known;
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      for (const Identity& identity : identities_[side]) {
        const auto [at, fresh] = known.try_emplace(identity.exact, 0);
        if (fresh) {
          at->second = add(identity.name);
          on_side_.emplace_back();
        }
        RowName& name = names_[at->second];
        name.mode = query::more_telling(name.mode, identity.name.mode);
        add_aliases(identity.name, name);
        rows_[side].push_back(at->second);
        on_side_[at->second][side] = true;
      }
    }
  }

  // Functions that differ in their numbers alone, where the sides do not have the same numbers: one
  // that was added counts all behind it on, so that no number says which is which. They are one.
  void pair_unnumbered() {
    struct Family {
      std::array<bool, 2> on_side{};
      bool differs = false;
      std::uint32_t row = RowTable::kNoRow;
    };
    std::unordered_map<std::string_view, Family> families;
    for_each_numbered([&](std::size_t side, std::size_t entity, const Identity& identity) {
      Family& family = families[identity.unnumbered];
      family.on_side[side] = true;
      family.differs |= alone(rows_[side][entity]);
    });
    for_each_numbered([&](std::size_t side, std::size_t entity, const Identity& identity) {
      Family& family = families.find(identity.unnumbered)->second;
      if (!family.differs || !family.on_side[0] || !family.on_side[1]) {
        return;
      }
      if (family.row == RowTable::kNoRow) {
        RowName name = identity.name;
        name.name = identity.unnumbered.substr(0, identity.unnumbered.find('\0'));
        family.row = add(std::move(name));
      }
      names_[family.row].mode = query::more_telling(names_[family.row].mode, identity.name.mode);
      add_aliases(identity.name, names_[family.row]);
      rows_[side][entity] = family.row;
    });
  }

  template <typename Visit>
  void for_each_numbered(const Visit& visit) const {
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      for (std::size_t i = 0; i < identities_[side].size(); ++i) {
        if (identities_[side][i].unnumbered != identities_[side][i].exact) {
          visit(side, i, identities_[side][i]);
        }
      }
    }
  }

  [[nodiscard]] bool alone(std::uint32_t row) const {
    return !on_side_[row][0] || !on_side_[row][1];
  }

  std::array<const SideProfile*, 2> sides_;
  std::array<std::vector<Identity>, 2> identities_;
  std::array<std::vector<std::uint32_t>, 2> rows_;
  std::vector<RowName> names_;
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
  return text.empty() ? "[no callstack]" : text;
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
