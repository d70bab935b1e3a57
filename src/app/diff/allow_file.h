#pragma once

#include <string>
#include <vector>

#include "stackpack/diff.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Reads a list of known changes ("-": standard input).
/// Errors: those of the file; kLimit for one of more than a MiB; those of parse_allowed_changes.
Result<std::vector<AllowedChange>> read_allowed_changes(const std::string& path);

}  // namespace stackpack::app
