#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/result.h"

namespace stackpack::app {

/// A file that may be opened.
struct OfferedFile {
  std::string path;  ///< as AllowedFolders::find takes it
  std::uint64_t bytes = 0;
  bool is_capture = false;  ///< not packed
};

struct OfferedFiles {
  std::vector<OfferedFile> files;  ///< by path
  bool all = true;                 ///< false: there is more than was looked at
};

/// Folders below which a client may have files opened, and no others.
class AllowedFolders {
 public:
  /// Errors: kUsage: what is no folder; Error::part is its number.
  static Result<AllowedFolders> create(const std::vector<std::string>& folders);

  /// The file that `path` means, as a path without symbolic links. A relative path is looked for in
  /// each folder, in their order.
  /// Errors: kUsage: `..`, and what leads out of the folders, whether or not there is a file; a
  ///         client learns nothing of what lies outside. kNotFound; kUnsupported: no regular file.
  [[nodiscard]] Result<std::string> find(std::string_view path) const;

  /// .spk files and captures below the folders, by content. At most `most`, of the first thousands
  /// of files.
  [[nodiscard]] OfferedFiles list(std::size_t most) const;

 private:
  [[nodiscard]] bool holds(const std::filesystem::path& path) const;

  std::vector<std::filesystem::path> folders_;
};

}  // namespace stackpack::app
