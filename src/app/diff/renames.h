// What is called otherwise on the new side of a comparison.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "app/diff/side_profile.h"
#include "query/naming/entity_table.h"
#include "stackpack/diff.h"

namespace stackpack::app {

/// A row before its figures.
using RowName = query::FrameEntity;

/// Old names and the new ones that they are compared under.
class Renames {
 public:
  /// Those of DiffOptions::renames, and images that are on one side alone and pair: by build id,
  /// else by names of functions, where each of two images has the most names in common with the
  /// other one: kLeastNames at least, and half of those of the smaller. Images that pair by name
  /// are left alone.
  static Renames find(const std::array<SideProfile, 2>& sides, const DiffOptions& options);

  /// Names of the old side become those of the new one.
  void apply(RowName& name) const;

  [[nodiscard]] const std::vector<DiffRename>& list() const { return list_; }

 private:
  std::map<std::string, std::string> modules_;
  std::map<std::string, std::string> functions_;
  std::vector<DiffRename> list_;
};

}  // namespace stackpack::app
