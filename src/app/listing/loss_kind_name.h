#pragma once

#include <string_view>

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

}  // namespace stackpack::app
