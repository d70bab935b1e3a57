#pragma once

#include <string>
#include <string_view>

#include "stackpack/result.h"

namespace stackpack::app {

/// The text of a file that a person writes ("-": standard input).
/// Errors: those of the file; kLimit with the static text `too_large` for one of more than a MiB.
Result<std::string> read_small_text(const std::string& path, std::string_view too_large);

}  // namespace stackpack::app
