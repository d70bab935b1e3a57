#pragma once

#include <memory>
#include <string>

#include "stackpack/result.h"

namespace stackpack::io {

/// A directory of our own below the system's temporary directory; it and what is in it are gone at
/// the end.
class ScratchDirectory {
 public:
  /// Errors: kIo.
  static Result<std::unique_ptr<ScratchDirectory>> create();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace stackpack::io
