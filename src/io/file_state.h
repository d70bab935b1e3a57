#pragma once

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>

#include "io/system_file.h"
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
inline Result<std::optional<FileState>> state_of_file(const std::string& path) {
  FileStatus status;
  if (!(path == "-" ? look_at(kInputDescriptor, status) : look_at(path, status))) {
    if (errno == ENOENT || errno == ENOTDIR || path == "-") {
      return std::optional<FileState>();
    }
    return Error{ErrorCode::kIo, kNoOffset, "cannot open", errno};
  }
  if (status.kind != FileKind::kRegular) {
    return std::optional<FileState>();
  }
  return std::optional(
      FileState{status.identity.device, status.identity.inode, status.bytes, status.modified_ns});
}

}  // namespace stackpack::io
