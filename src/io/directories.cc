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

std::vector<std::string> missing_directories(const std::string& path) {
  std::vector<std::string> missing;
  std::error_code failure;
  for (std::filesystem::path at = path; !at.empty() && !std::filesystem::exists(at, failure);
       at = at.parent_path()) {
    missing.push_back(at.string());
  }
  return missing;
}

void remove_empty_directories(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);  // fails for one that is not empty
  }
}

std::string temporary_directory() {
  std::error_code failure;
  const std::filesystem::path path = std::filesystem::temp_directory_path(failure);
  return failure ? "/tmp" : path.string();
}

}  // namespace stackpack::io
