#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "io/utf8_path.h"

namespace stackpack::app {

/// Whether there is a folder or an archive of this name to look for symbols in. One that is missing
/// would be looked into without finding anything, and without a word.
inline bool is_symbol_place(const std::string& place) {
  std::error_code failed;
  return std::filesystem::exists(io::path_of(place), failed);
}

}  // namespace stackpack::app
