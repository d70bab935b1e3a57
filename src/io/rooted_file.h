#pragma once

#include <cstdint>
#include <string>

#include "io/descriptor.h"
#include "stackpack/result.h"

namespace stackpack::io {

/// A regular file that was opened for reading.
struct RootedFile {
  Descriptor descriptor;
  std::uint64_t bytes = 0;
};

/// Opens the regular file that `path` means inside `root`, as a process would see it to which
/// `root` is the root directory: symbolic links and `..` do not lead out of it. An empty root is
/// that of this process. Nothing is waited for: a FIFO, a device or a directory is refused. Errors:
/// kNotFound, kIo (errno); kUnsupported for what is no regular file.
Result<RootedFile> open_rooted_file(const std::string& root, const std::string& path);

}  // namespace stackpack::io
