#include "io/directories.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include <dirent.h>

namespace stackpack::io {

namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace

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

Result<std::vector<std::string>> list_directory(const std::string& path) {
  const auto failed = [](int os_error) {
    const ErrorCode code = os_error == ENOMEM   ? ErrorCode::kResource
                           : os_error == ENOENT ? ErrorCode::kNotFound
                                                : ErrorCode::kIo;
    return Error{code, kNoOffset, "directory cannot be listed", os_error};
  };
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(path.c_str()));
  if (directory == nullptr) {
    return failed(errno);
  }
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(directory.get());
    if (entry == nullptr) {
      break;
    }
    const std::string_view name(static_cast<const char*>(entry->d_name));
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
  if (errno != 0) {
    return failed(errno);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string temporary_directory() {
  std::error_code failure;
  const std::filesystem::path path = std::filesystem::temp_directory_path(failure);
  return failure ? "/tmp" : path.string();
}

}  // namespace stackpack::io
