#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stackpack/result.h"

namespace stackpack::io {

/// Bytes of an input: a file, a pipe or memory. One of the three virtual interfaces.
///
/// Errors:  kIo with errno; interrupted calls are repeated inside.
/// Threads: one at a time, apart from read_at, which any thread may call.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  /// Up to into.size() bytes from the read position on; 0 only at the end (or for an empty span).
  virtual Result<std::size_t> read(std::span<std::byte> into) = 0;

  /// Up to into.size() bytes from `offset` on, fewer only at the end; the read position stays.
  /// kUnsupported when not seekable().
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) = 0;

  /// Whether read_at works and size() is known: regular files and memory.
  [[nodiscard]] virtual bool seekable() const = 0;

  /// Size in bytes, when known.
  [[nodiscard]] virtual std::optional<std::uint64_t> size() const = 0;
};

/// Opens a file for reading. A FIFO or character device gives a source which is not seekable.
/// Errors: kNotFound, kIo (errno); a directory is kUnsupported.
Result<std::unique_ptr<ByteSource>> open_source(const std::string& path);

/// The same for a path that nobody named, such as one found in a directory: regular files only, and
/// no waiting for a FIFO's other end.
/// Errors: as open_source; whatever is no regular file is kUnsupported.
Result<std::unique_ptr<ByteSource>> open_regular_file(const std::string& path);

/// Reads from an open descriptor, which stays the caller's. Seekable when it is a regular file at
/// offset 0 (a shell redirection), else not.
std::unique_ptr<ByteSource> source_of_descriptor(int descriptor);

/// Reads from standard input.
std::unique_ptr<ByteSource> source_of_standard_input();

/// Gives `head`, which was read from `rest` before, and then what is left of `rest`. Not seekable.
std::unique_ptr<ByteSource> source_with_head(std::vector<std::byte> head,
                                             std::unique_ptr<ByteSource> rest);

/// Reads from memory, which must outlive the source.
std::unique_ptr<ByteSource> source_of_memory(std::span<const std::byte> bytes);

/// Reads the rest of `source` into an anonymous temporary file and returns a seekable source over
/// it. The file has no name: it is gone with the process, however that ends.
/// `directory`: where to put it. `limit`: kLimit when the input is larger.
Result<std::unique_ptr<ByteSource>> spool_to_temporary(ByteSource& source,
                                                       const std::string& directory,
                                                       std::uint64_t limit);

/// Exactly into.size() bytes from `offset`, or kTruncated with `what`.
Status read_exactly_at(ByteSource& source, std::uint64_t offset, std::span<std::byte> into,
                       std::string_view what);

}  // namespace stackpack::io
