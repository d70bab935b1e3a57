#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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

  /// How rows stand in the text: a line each, after lines that begin with `#`; or as the elements
  /// of a JSON array, a line each.
  enum class RowForm : std::uint8_t { kLines, kJson };
  /// Before anything is written: only the first rows are.
  void limit_rows(std::size_t rows, RowForm form) {
    rows_left_ = rows;
    form_ = form;
  }
  /// All rows that are wanted were written: checkpoint() is an error from now on, which is none of
  /// the run.
  [[nodiscard]] bool is_full() const { return is_full_; }

  /// Writes text() when there is enough of it.
  Status checkpoint();

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
  // Cuts what comes after the last row that is wanted.
  void keep_wanted_rows();

  std::unique_ptr<io::OutputFile> file_;
  std::string text_;
  bool broken_pipe_ = false;
  std::optional<std::size_t> rows_left_;  // unset: all are wanted
  RowForm form_ = RowForm::kLines;
  std::size_t looked_at_ = 0;  // bytes of text_ whose rows were counted
  bool is_full_ = false;
};

/// Where a report goes that is no plain text of the terminal.
struct ReportFile {
  std::string path;  ///< "-": standard output
  bool force = false;
  std::span<const std::string> inputs;  ///< that it must not replace
};

/// Writes all of `text`; the file appears whole or not at all.
/// Errors: those of the output rules, kIo; of the output's part.
Status write_report_file(const ReportFile& file, std::string_view text);

/// The absolute path of the directory that relative paths begin at; empty where nobody knows.
std::string working_directory();

/// Where a relative path of a file that a person wrote leads: from the folder of that file on.
std::string path_beside(const std::string& file, const std::string& path);

}  // namespace stackpack::app
