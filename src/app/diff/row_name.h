#pragma once

#include <string>

#include "query/naming/code_mode.h"

namespace stackpack::app {

/// A row before its figures.
struct RowName {
  std::string name;
  std::string module;
  std::string place;
  query::CodeMode mode = query::CodeMode::kUnknown;
};

}  // namespace stackpack::app
