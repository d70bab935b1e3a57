#pragma once

#include <string>

#include "cli/invocation.h"

namespace stackpack::cli {

/// What `perf record` writes, and what is read by commands that were given no file.
inline constexpr const char* kUsualInput = "perf.data";
/// And what it makes of the one before.
inline constexpr const char* kOldInput = "perf.data.old";

/// Fills in what was left out: the file of `top`, `annotate`, `callers`, `callees`, `waits` and
/// `view` when kUsualInput is in the current folder (the one word that was given to those of a
/// function is the function then); both files of `diff`, and in `diff OLD NEW` the word between
/// them; the format of `export`, where the name of its output says it. Result: what is missing all
/// the same, with the command's name; empty: nothing.
std::string take_usual_input(Invocation& invocation);

}  // namespace stackpack::cli
