#pragma once

#include <string>

#include "stackpack/result.h"

namespace stackpack::io {

/// Makes the directory and those above it, as far as they are not there.
Status make_directories(const std::string& path);

/// Where files that nobody is to find may be made: TMPDIR, or /tmp.
std::string temporary_directory();

}  // namespace stackpack::io
