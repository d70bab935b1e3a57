// A place for the files of one test.
#pragma once

#include <filesystem>
#include <string>

#include <stdlib.h>

namespace stackpack::test {

/// A directory that is gone at the end of the test.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "stackpack-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace stackpack::test
