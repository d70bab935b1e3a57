#pragma once

#include <string>

#include "capture/source_format.h"
#include "stackpack/result.h"

namespace stackpack::perf {

/// A capture: the file or stream that has the header, and the `data.N` streams of a directory.
using Input = capture::CaptureBytes;

/// Opens a directory written by `perf record --threads`: its `data` and every `data.N`, by number.
/// Errors: kNotFound when there is no `data` in it.
Result<Input> open_directory(const std::string& path);

}  // namespace stackpack::perf
