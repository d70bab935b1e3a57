#include "io/directories.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "io/system_file.h"
#include "io/utf8_path.h"

namespace stackpack::io {

Status make_directories(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path_of(path), failure);
  if (failure) {
    return Error{ErrorCode::kIo, kNoOffset, "cannot make the directory",
                 failure.default_error_condition().value()};
  }
  return {};
}

std::vector<std::string> missing_directories(const std::string& path) {
  std::vector<std::string> missing;
  std::error_code failure;
  for (std::filesystem::path at = path_of(path);
       !at.empty() && !std::filesystem::exists(at, failure); at = at.parent_path()) {
    missing.push_back(text_of(at));
  }
  return missing;
}

void remove_empty_directories(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::error_code ignored;
    std::filesystem::remove(path_of(path), ignored);  // fails for one that is not empty
  }
}

Result<std::vector<std::string>> list_directory(const std::string& path) {
  const auto failed = [](int os_error) {
    const ErrorCode code = os_error == ENOMEM   ? ErrorCode::kResource
                           : os_error == ENOENT ? ErrorCode::kNotFound
                                                : ErrorCode::kIo;
    return Error{code, kNoOffset, "directory cannot be listed", os_error};
  };
  std::vector<std::string> names;
  if (!list_names(path, names)) {
    return failed(errno);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.find_last_of(kSeparators);
  if (slash == std::string::npos) {
    return ".";
  }
  // The separator stays where it is all there is, also after a drive.
  const bool is_root = slash == 0 || path[slash] == ':' || path[slash - 1] == ':';
  return path.substr(0, slash + (is_root ? 1 : 0));
}

std::string temporary_directory() {
  std::error_code failure;
  const std::filesystem::path path = std::filesystem::temp_directory_path(failure);
  return failure ? "/tmp" : text_of(path);
}

}  // namespace stackpack::io
