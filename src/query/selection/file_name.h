#pragma once

#include <cstddef>
#include <string_view>

#include "capture/memory_name.h"
#include "stackpack/model.h"

namespace stackpack::query {

/// The last part of an image's path, whichever way its slashes lean; the path when that is empty.
inline std::string_view file_name_of(const Module& module) {
  const std::string_view path = module.path;
  const std::size_t slash = path.find_last_of("/\\");
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return name.empty() ? path : name;
}

/// Whether a mapping has no file: memory that a process made.
inline bool is_memory(const Module& module) {
  return capture::is_memory_name(module.path);
}

}  // namespace stackpack::query
