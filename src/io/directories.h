#pragma once

#include <string>
#include <vector>

#include "stackpack/result.h"

namespace stackpack::io {

/// Makes the directory and those above it, as far as they are not there.
Status make_directories(const std::string& path);

/// The directory and those above it which are not there, the innermost first.
std::vector<std::string> missing_directories(const std::string& path);

/// Removes those of `paths` which are empty, in their order; the others stay.
void remove_empty_directories(const std::vector<std::string>& paths);

/// Names of what is in the directory, in the order of bytes, without `.` and `..`.
/// Errors: kIo, kNotFound; kResource when there is no memory for it.
Result<std::vector<std::string>> list_directory(const std::string& path);

/// Where files that nobody is to find may be made: TMPDIR, or /tmp.
std::string temporary_directory();

/// The directory part of `path`; "." when it has none.
std::string directory_of(const std::string& path);

}  // namespace stackpack::io
