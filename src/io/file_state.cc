#include "io/file_state.h"

#include <cerrno>

#include "io/system_file.h"

namespace stackpack::io {

Result<std::optional<FileState>> state_of_file(const std::string& path) {
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
