#include <cerrno>
#include <cstdlib>

#include <unistd.h>

#include "io/directories.h"
#include "io/files_read.h"
#include "io/scratch_directory.h"

namespace stackpack::io {

Result<std::unique_ptr<ScratchDirectory>> ScratchDirectory::create(const std::string& name) {
  // All names are there before the directory is, so that its end needs no memory.
  std::unique_ptr<ScratchDirectory> made(new ScratchDirectory);
  std::string path = temporary_directory() + "/stackpack-XXXXXX";
  made->file_ = path + "/" + name;
  if (::mkdtemp(path.data()) == nullptr) {
    return Error{ErrorCode::kIo, kNoOffset, "cannot create a temporary directory", errno,
                 kOutputPart};
  }
  made->path_ = std::move(path);
  made->file_.replace(0, made->path_.size(), made->path_);
  return made;
}

ScratchDirectory::~ScratchDirectory() {
  if (!path_.empty()) {
    FilesRead::forget(file_);
    ::unlink(file_.c_str());
    ::rmdir(path_.c_str());
  }
}

}  // namespace stackpack::io
