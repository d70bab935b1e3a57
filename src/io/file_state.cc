#include "io/file_state.h"

#include <cerrno>

#include <sys/stat.h>
#include <unistd.h>

namespace stackpack::io {

Result<std::optional<FileState>> state_of_file(const std::string& path) {
  struct stat status {};
  const int failed = path == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
  if (failed != 0) {
    if (errno == ENOENT || errno == ENOTDIR || path == "-") {
      return std::optional<FileState>();
    }
    return Error{ErrorCode::kIo, kNoOffset, "cannot open", errno};
  }
  if (!S_ISREG(status.st_mode)) {
    return std::optional<FileState>();
  }
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  return std::optional(FileState{
      static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
      static_cast<std::uint64_t>(status.st_size),
      std::int64_t{status.st_mtim.tv_sec} * kNsPerSecond + status.st_mtim.tv_nsec});
}

}  // namespace stackpack::io
