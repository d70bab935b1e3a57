#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/descriptor.h"
#include "io/output_rules.h"
#include "io/replacing_file.h"
#include "stackpack/result.h"

namespace stackpack::io {

/// A file that appears whole or not at all.
///
/// Bytes go to a temporary file in the directory of the target (nameless where the file system can
/// do that). commit() syncs it and moves it over the target; destruction without commit leaves the
/// target as it was and no temporary file there. Path "-" is standard output: bytes go out as they
/// are written, commit() flushes. A device, a FIFO or a socket is written to in the same way: it is
/// never replaced by a file. A symbolic link stays, and what it points to is replaced.
/// What may be replaced is up to the rules; they are looked at when the output is created and once
/// more just before it takes its place. A file that replaces another has its permissions.
/// Errors:  kIo with errno. A failed write makes every later call fail with the same error.
/// Threads: one at a time.
class OutputFile {
 public:
  /// Without rules any file is replaced.
  /// Errors: those of check_output(); kIo.
  static Result<std::unique_ptr<OutputFile>> create(const std::string& path,
                                                    const OutputRules& rules = {});

  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  Status write(std::span<const std::byte> bytes);

  /// Bytes written so far: the file offset of the next one.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

  /// Does all of commit() but taking the place, which needs no space and no memory. For outputs
  /// that are to appear together.
  Status prepare();

  Status commit();

  /// Writes what is in memory, for a reader that waits for it. Errors: as write().
  Status flush();

 private:
  OutputFile();
  Status fail(int os_error, std::string_view what);

  int descriptor_ = -1;  // that of one of the next two, or standard output
  Descriptor device_;
  std::optional<ReplacingFile> replacing_;
  std::string target_;
  OutputRules rules_;
  std::optional<std::uint32_t> kept_mode_;  // of the file that is replaced
  std::vector<std::byte> buffer_;
  std::uint64_t offset_ = 0;
  bool prepared_ = false;
  bool failed_ = false;
  Error error_{};
};

}  // namespace stackpack::io
