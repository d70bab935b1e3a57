#pragma once

#include <string>

namespace stackpack::app {

/// Whether `path` is a capture that convert() reads: by content, not by name. A zip archive is one
/// when it holds a capture. Nothing is unpacked to disk.
bool looks_like_capture(const std::string& path);

}  // namespace stackpack::app
