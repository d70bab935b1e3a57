#include "io/directories.h"

#include <filesystem>
#include <system_error>

namespace stackpack::io {

Status make_directories(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure) {
    return Error{ErrorCode::kIo, kNoOffset, "cannot make the directory", failure.value()};
  }
  return {};
}

std::string temporary_directory() {
  std::error_code failure;
  const std::filesystem::path path = std::filesystem::temp_directory_path(failure);
  return failure ? "/tmp" : path.string();
}

}  // namespace stackpack::io
