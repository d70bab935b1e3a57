#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "io/descriptor.h"
#include "stackpack/result.h"

namespace stackpack::io {

/// Scratch space on disk: append blocks, read them back at offsets. Nameless, so that nothing is
/// left behind however the process ends.
///
/// Threads: append and write_at from one thread; read_at from any.
/// Errors: kIo; Error::part is kOutputPart, since no input is to blame.
class SpillFile {
 public:
  /// Opens the scratch file in `directory` at the first append, not before.
  explicit SpillFile(std::string directory) : directory_(std::move(directory)) {}
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;
  ~SpillFile() = default;

  /// Writes `bytes` at the end; returns the offset where they begin.
  Result<std::uint64_t> append(std::span<const std::byte> bytes);

  /// Writes `bytes` at `offset`, which may lie beyond the end: what is between reads as zero.
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  /// Exactly into.size() bytes from `offset`.
  Status read_at(std::uint64_t offset, std::span<std::byte> into) const;

  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  Status open();

  std::string directory_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace stackpack::io
