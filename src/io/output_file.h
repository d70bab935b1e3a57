#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/output_rules.h"
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

  Status commit();

 private:
  static Result<std::unique_ptr<OutputFile>> create_file(const std::string& path,
                                                         const OutputRules& rules,
                                                         std::optional<std::uint32_t> kept_mode);
  OutputFile(int descriptor, std::string target, std::string temporary);
  Status name_it();
  Status flush();
  Status fail(int os_error, std::string_view what);

  int descriptor_;
  std::string target_;     // empty: written to directly
  std::string temporary_;  // empty: nameless
  OutputRules rules_;
  std::optional<std::uint32_t> kept_mode_;  // of the file that is replaced
  std::vector<std::byte> buffer_;
  std::uint64_t offset_ = 0;
  bool failed_ = false;
  Error error_{};
};

/// Opens a nameless temporary file in `directory` and returns its descriptor, which the caller
/// closes. Read and write at offsets.
Result<int> open_nameless_file(const std::string& directory);

/// The directory part of `path`; "." when it has none.
std::string directory_of(const std::string& path);

}  // namespace stackpack::io
