#include "app/diff/renames.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "diff/function_identity.h"

namespace stackpack::app {

namespace {

// Two programs have `main` in common, and perhaps one more.
constexpr std::size_t kLeastNames = 3;

using NamesOfModules = std::map<std::string, std::set<std::string>>;

// The names of functions of each image; those of places without a name are of no use.
NamesOfModules names_of_modules(const SideProfile& side, DiffGrain by) {
  NamesOfModules modules;
  for (const query::FrameEntity& entity : side.entities) {
    if (by == DiffGrain::kModule) {
      modules[diff::identity_of_module(entity.name)];
    } else if (!entity.module.empty()) {
      std::set<std::string>& names = modules[diff::identity_of_module(entity.module)];
      if (!entity.name.starts_with('[') && !entity.name.starts_with(entity.module + "+0x")) {
        names.insert(diff::identity_of_function(entity.name).exact);
      }
    }
  }
  return modules;
}

std::size_t in_common(const std::set<std::string>& a, const std::set<std::string>& b) {
  const auto known = [&b](const std::string& name) { return b.contains(name); };
  return static_cast<std::size_t>(std::count_if(a.begin(), a.end(), known));
}

/// Images that are on one side alone.
class UnpairedImages {
 public:
  UnpairedImages(const std::array<SideProfile, 2>& sides, DiffGrain by) : sides_(sides) {
    modules_ = {names_of_modules(sides[0], by), names_of_modules(sides[1], by)};
    for (auto at = modules_[0].begin(); at != modules_[0].end();) {
      if (modules_[1].erase(at->first) != 0 || at->first.starts_with('[')) {
        at = modules_[0].erase(at);
      } else {
        ++at;
      }
    }
  }

  void leave_out(const std::string& before, const std::string& after) {
    modules_[0].erase(before);
    modules_[1].erase(after);
  }

  std::vector<DiffRename> by_build_id() {
    std::vector<DiffRename> pairs;
    for (const auto& [before, names] : modules_[0]) {
      const auto ids = sides_[0].build_ids.find(before);
      for (const auto& [after, others] : modules_[1]) {
        const auto other_ids = sides_[1].build_ids.find(after);
        if (ids != sides_[0].build_ids.end() && other_ids != sides_[1].build_ids.end() &&
            in_common(ids->second, other_ids->second) != 0) {
          pairs.push_back({before, after, DiffRenameReason::kBuildId, 0, 0});
          break;
        }
      }
    }
    take_out(pairs);
    return pairs;
  }

  std::vector<DiffRename> by_names() {
    std::vector<DiffRename> pairs;
    for (const auto& [before, names] : modules_[0]) {
      const auto after = best(names, modules_[1]);
      if (!after) {
        continue;
      }
      const std::set<std::string>& others = modules_[1].at(*after);
      if (best(others, modules_[0]) == before) {
        pairs.push_back({before, *after, DiffRenameReason::kNames, in_common(names, others),
                         std::min(names.size(), others.size())});
      }
    }
    return pairs;
  }

 private:
  void take_out(const std::vector<DiffRename>& pairs) {
    for (const DiffRename& pair : pairs) {
      leave_out(pair.before, pair.after);
    }
  }

  // The one image with most names in common; nothing where several have as many, or too few.
  static std::optional<std::string> best(const std::set<std::string>& names,
                                         const NamesOfModules& others) {
    std::optional<std::string> found;
    std::size_t most = 0;
    for (const auto& [module, other] : others) {
      const std::size_t common = in_common(names, other);
      if (common < kLeastNames || 2 * common < std::min(names.size(), other.size()) ||
          common < most) {
        continue;
      }
      found = common == most ? std::nullopt : std::optional(module);
      most = common;
    }
    return found;
  }

  const std::array<SideProfile, 2>& sides_;
  std::array<NamesOfModules, 2> modules_;
};

bool has_function(const SideProfile& side, const std::string& name) {
  return std::any_of(side.entities.begin(), side.entities.end(),
                     [&name](const query::FrameEntity& entity) {
                       return diff::identity_of_function(entity.name).exact == name;
                     });
}

}  // namespace

Renames Renames::find(const std::array<SideProfile, 2>& sides, const DiffOptions& options) {
  Renames renames;
  const NamesOfModules modules = names_of_modules(sides[0], options.by);
  UnpairedImages unpaired(sides, options.by);
  for (const auto& [before, after] : options.renames) {
    const std::string module = diff::identity_of_module(before);
    DiffRename rename{before, after, DiffRenameReason::kAsked, 0, 0};
    if (modules.contains(module)) {
      renames.modules_[module] = diff::identity_of_module(after);
      unpaired.leave_out(module, renames.modules_[module]);
    } else {
      const std::string function = diff::identity_of_function(before).exact;
      rename.reason =
          has_function(sides[0], function) ? DiffRenameReason::kAsked : DiffRenameReason::kNotThere;
      renames.functions_[function] = diff::identity_of_function(after).exact;
    }
    renames.list_.push_back(std::move(rename));
  }
  for (std::vector<DiffRename> pairs : {unpaired.by_build_id(), unpaired.by_names()}) {
    for (DiffRename& pair : pairs) {
      renames.modules_[pair.before] = pair.after;
      renames.list_.push_back(std::move(pair));
    }
  }
  return renames;
}

void Renames::apply(RowName& name) const {
  if (const auto module = modules_.find(name.module); module != modules_.end()) {
    if (name.name == "[" + name.module + "]") {
      name.name = "[" + module->second + "]";
    } else if (name.name == name.module) {
      name.name = module->second;
    }
    name.module = module->second;
  } else if (const auto image = modules_.find(name.name);
             image != modules_.end() && name.module.empty()) {
    name.name = image->second;
  }
  if (const auto function = functions_.find(name.name); function != functions_.end()) {
    name.name = function->second;
  }
}

}  // namespace stackpack::app
