#pragma once

#include <string>
#include <string_view>

#include "query/naming/build_id_text.h"
#include "stackpack/model.h"

namespace stackpack::app {

/// The kind of a loss in tables for machines, one word.
inline std::string_view loss_kind_name(LossKind kind) {
  switch (kind) {
    case LossKind::kRecorder:
      return "recorder";
    case LossKind::kDamage:
      return "damage";
    case LossKind::kNotice:
      return "notice";
  }
  return "?";
}

/// The identity of an image as listings show it and exports write it: hex of a GNU build id, GUID
/// and age of a PDB in the form that symbol servers take, or nothing.
inline std::string listed_build_id(const Module& module) {
  return query::build_id_text(module);
}

}  // namespace stackpack::app
