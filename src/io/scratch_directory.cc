#include "io/scratch_directory.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace stackpack::io {

Result<std::unique_ptr<ScratchDirectory>> ScratchDirectory::create() {
  std::error_code failed;
  std::filesystem::path parent = std::filesystem::temp_directory_path(failed);
  if (failed) {
    parent = "/tmp";
  }
  std::string name = (parent / "stackpack-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    return Error{ErrorCode::kIo, kNoOffset, "cannot create a temporary directory", errno};
  }
  return std::unique_ptr<ScratchDirectory>(new ScratchDirectory(std::move(name)));
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace stackpack::io
