#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/scratch_directory.h"
#include "stackpack/convert.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// What becomes of a file that was made of a capture: reads `from`, and writes `to`. Returns what
/// whoever is shown the file should know, a sentence each.
using Rework =
    std::function<Result<std::vector<std::string>>(const std::string& from, const std::string& to)>;

/// How a capture is packed for a command that shows it.
struct PackingOptions {
  ConvertOptions convert;
  /// Where the capture has dumps of registers and stack memory, callstacks are made of them.
  bool unwind_dumps = false;
  Rework rework{};  ///< may be empty
  /// Of every file in the end, of .spk files, too: may be empty.
  Rework last_rework{};
  /// What the file is called that is made, in a folder of its own.
  std::string name = "capture.spk";
};

/// The path of a .spk file; of a capture, of one that was made for the purpose and goes with this.
class PackedFile {
 public:
  /// What is neither declared to be a capture nor looks like one is taken for a .spk file.
  /// Errors: those of convert; Error::part is kOutputPart when the file cannot be made, whatever
  /// the capture is.
  static Result<PackedFile> make(const std::string& path, const PackingOptions& options,
                                 ConvertProgress* progress);

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Whether it was made of a capture.
  [[nodiscard]] bool is_made() const { return scratch_ != nullptr; }
  /// Of PackingOptions::rework.
  [[nodiscard]] const std::vector<std::string>& notices() const { return notices_; }

 private:
  std::string path_;
  std::vector<std::string> notices_;
  std::unique_ptr<io::ScratchDirectory> scratch_;  // of a file that was made
};

/// A .spk file that is open; of a capture, one that was made for the purpose and goes with this.
class PackedCapture {
 public:
  /// As PackedFile::make, so that errors of what is no capture are those of a .spk file.
  /// Errors: those of Reader::open and of convert.
  static Result<PackedCapture> open(const std::string& path, const PackingOptions& options,
                                    ConvertProgress* progress = nullptr);

  [[nodiscard]] const Reader& reader() const { return *reader_; }
  /// Whether it was made of a capture.
  [[nodiscard]] bool is_made() const { return file_.is_made(); }
  /// As PackedFile::notices.
  [[nodiscard]] const std::vector<std::string>& notices() const { return file_.notices(); }

 private:
  PackedFile file_;
  std::unique_ptr<Reader> reader_;
};

}  // namespace stackpack::app
