#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stackpack/diff.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// The text of a file that a person writes ("-": standard input).
/// Errors: those of the file; kLimit with the static text `too_large` for one of more than a MiB.
Result<std::string> read_small_text(const std::string& path, std::string_view too_large);

/// Reads a list of known changes ("-": standard input).
/// Errors: those of the file; kLimit for one of more than a MiB; those of parse_allowed_changes.
Result<std::vector<AllowedChange>> read_allowed_changes(const std::string& path);

}  // namespace stackpack::app
