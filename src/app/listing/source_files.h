// Source files that debug information names, where they are on this machine.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stackpack::app {

/// Finds and reads source files, each once.
///
/// A file is looked for by its recorded path, where that is absolute, below the root, then below
/// each folder by the ends of the path, the longest first: `/build/app/src/a.cc` in
/// `DIR/build/app/src/a.cc`, ..., `DIR/a.cc`. What is no regular file or larger than kMostBytes is
/// not there.
class SourceFiles {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

  /// `root`: the root directory of the recorded machine, out of which nothing leads; empty: that of
  /// this process.
  explicit SourceFiles(std::vector<std::string> folders, std::string root = {})
      : folders_(std::move(folders)), root_(std::move(root)) {}

  /// The lines of a file without their ends; null: it is not here. Lives as long as this.
  const std::vector<std::string>* lines_of(const std::string& recorded);

 private:
  std::vector<std::string> folders_;
  std::string root_;
  std::map<std::string, std::optional<std::vector<std::string>>> known_;
};

}  // namespace stackpack::app
