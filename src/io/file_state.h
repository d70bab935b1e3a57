#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stackpack/result.h"

namespace stackpack::io {

/// What changes when a file is written to, or another one takes its place.
struct FileState {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;

  friend bool operator==(const FileState&, const FileState&) = default;
};

/// The state of a regular file ("-": standard input). Nothing when there is none, or `path` is
/// something else. Errors: kIo.
Result<std::optional<FileState>> state_of_file(const std::string& path);

}  // namespace stackpack::io
