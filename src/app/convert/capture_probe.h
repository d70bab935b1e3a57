#pragma once

#include <string>

#include "stackpack/result.h"

namespace stackpack::app {

/// Whether `path` is a capture that convert() reads: by content, not by name. A zip archive is one
/// when it holds a capture. Nothing is unpacked to disk.
/// Errors: kIo, kResource: whether it is one is not known.
Result<bool> looks_like_capture(const std::string& path);

/// Whether `path` is a .spk file, whole or damaged, by content. Only regular files are opened.
bool looks_like_packed(const std::string& path);

}  // namespace stackpack::app
