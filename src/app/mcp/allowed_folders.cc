#include "app/mcp/allowed_folders.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "app/convert/capture_probe.h"
#include "core/sort_rows.h"
#include "io/utf8_path.h"

namespace stackpack::app {

namespace {

namespace fs = std::filesystem;

constexpr Error kOutside{ErrorCode::kUsage, kNoOffset,
                         "is not below the folders that stackpack mcp was given"};
constexpr Error kNotThere{ErrorCode::kNotFound, kNoOffset,
                          "no such file below the folders that stackpack mcp was given"};

// Deeper folders than these are not looked into for files to offer.
constexpr int kDeepestFolder = 8;
constexpr std::size_t kMostEntries = 4096;

}  // namespace

Result<AllowedFolders> AllowedFolders::create(const std::vector<std::string>& folders) {
  AllowedFolders allowed;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    std::error_code failed;
    fs::path folder = fs::canonical(io::path_of(folders[i]), failed);
    if (failed || !fs::is_directory(folder, failed)) {
      Error error{ErrorCode::kUsage, kNoOffset, "is not a folder"};
      error.part = static_cast<decltype(error.part)>(i);
      return error;
    }
    allowed.folders_.push_back(std::move(folder));
  }
  return allowed;
}

bool AllowedFolders::holds(const fs::path& path) const {
  return std::any_of(folders_.begin(), folders_.end(), [&path](const fs::path& folder) {
    const auto [end, ignored] =
        std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    static_cast<void>(ignored);
    return end == folder.end();
  });
}

Result<std::string> AllowedFolders::find(std::string_view path) const {
  if (path.empty() || path.find('\0') != std::string_view::npos) {
    return kNotThere;
  }
  const fs::path asked = io::path_of(path);
  if (std::find(asked.begin(), asked.end(), fs::path("..")) != asked.end()) {
    return kOutside;
  }
  bool outside = asked.is_absolute() && !holds(asked);
  for (const fs::path& folder : folders_) {
    std::error_code failed;
    const fs::path found = fs::canonical(folder / asked, failed);
    if (failed) {
      continue;
    }
    if (!holds(found)) {
      outside = true;
      continue;
    }
    if (!fs::is_regular_file(found, failed)) {
      return Error{ErrorCode::kUnsupported, kNoOffset, "is not a regular file"};
    }
    return io::text_of(found);
  }
  return outside ? kOutside : kNotThere;
}

OfferedFiles AllowedFolders::list(std::size_t most) const {
  OfferedFiles offered;
  std::size_t entries = 0;
  for (const fs::path& folder : folders_) {
    std::error_code failed;
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied,
                                        failed);
    for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
      if (++entries > kMostEntries || offered.files.size() > most) {
        offered.all = false;
        break;
      }
      if (at.depth() >= kDeepestFolder) {
        at.disable_recursion_pending();
      }
      const Result<std::string> path = find(io::text_of(at->path()));
      if (!path) {
        continue;
      }
      const bool packed = looks_like_packed(*path);
      const Result<bool> capture = packed ? Result<bool>(false) : looks_like_capture(*path);
      if (packed || (capture && *capture)) {
        const std::uintmax_t bytes = fs::file_size(io::path_of(*path), failed);
        offered.files.push_back({io::text_of(at->path()), failed ? 0 : bytes, !packed});
        failed.clear();
      }
    }
  }
  core::sort_rows(offered.files,
                  [](const OfferedFile& a, const OfferedFile& b) { return a.path < b.path; });
  if (offered.files.size() > most) {
    offered.files.resize(most);
  }
  return offered;
}

}  // namespace stackpack::app
