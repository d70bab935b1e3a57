#include <cerrno>

#include <windows.h>

#include "io/directories.h"
#include "io/files_read.h"
#include "io/scratch_directory.h"
#include "io/windows/windows_names.h"

namespace stackpack::io {

Result<std::unique_ptr<ScratchDirectory>> ScratchDirectory::create(const std::string& name) {
  constexpr unsigned kAttempts = 100;
  std::unique_ptr<ScratchDirectory> made(new ScratchDirectory);
  const std::string stem =
      temporary_directory() + "/stackpack-" + std::to_string(::GetCurrentProcessId()) + "-";
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    std::string path = stem + std::to_string(attempt);
    made->file_ = path;
    made->file_.append("/").append(name);
    if (::CreateDirectoryW(system_path(path).c_str(), nullptr) != 0) {
      made->path_ = std::move(path);
      return made;
    }
    set_errno();
    if (errno != EEXIST) {
      break;
    }
  }
  return Error{ErrorCode::kIo, kNoOffset, "cannot create a temporary directory", errno,
               kOutputPart};
}

ScratchDirectory::~ScratchDirectory() {
  if (!path_.empty()) {
    FilesRead::forget(file_);
    ::DeleteFileW(system_path(file_).c_str());
    ::RemoveDirectoryW(system_path(path_).c_str());
  }
}

}  // namespace stackpack::io
