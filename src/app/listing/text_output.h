#pragma once

#include <memory>
#include <string>

#include "io/output_file.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Standard output for data: append to text(), call checkpoint() now and then, finish() at the end.
///
/// Errors: kIo. When the reader of a pipe went away, broken_pipe() is true: stop, it is no failure.
class TextOutput {
 public:
  static Result<std::unique_ptr<TextOutput>> open();

  /// What was not written yet; append only.
  [[nodiscard]] std::string& text() { return text_; }

  /// Writes text() when there is enough of it.
  Status checkpoint() { return text_.size() < kBlockBytes ? Status{} : drain(); }

  /// Writes text() now, for a reader that waits for it.
  Status flush();

  /// Writes everything.
  Status finish();

  [[nodiscard]] bool broken_pipe() const { return broken_pipe_; }

 private:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 16;

  explicit TextOutput(std::unique_ptr<io::OutputFile> file) : file_(std::move(file)) {}
  Status drain();
  Status checked(const Status& status);

  std::unique_ptr<io::OutputFile> file_;
  std::string text_;
  bool broken_pipe_ = false;
};

}  // namespace stackpack::app
