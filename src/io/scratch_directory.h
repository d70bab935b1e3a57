#pragma once

#include <memory>
#include <string>
#include <utility>

#include "stackpack/result.h"

namespace stackpack::io {

/// A directory of our own below the system's temporary directory, for one file; both are gone at
/// the end, also when there is no memory left.
class ScratchDirectory {
 public:
  /// `name`: of the file. Errors: kIo; Error::part is kOutputPart, since no input is to blame.
  static Result<std::unique_ptr<ScratchDirectory>> create(const std::string& name = "capture.spk");
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory();

  /// The path of the file, which the caller makes.
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  ScratchDirectory() = default;
  std::string path_;
  std::string file_;
};

}  // namespace stackpack::io
