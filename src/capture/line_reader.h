#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "io/buffered_reader.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::capture {

/// A line of text, or a part of one that is longer than allowed.
struct TextLine {
  std::string_view text;     ///< without the end of the line; empty for a part
  std::uint64_t offset = 0;  ///< of its first byte
  std::size_t bytes = 0;     ///< with the end of the line
  bool ended = false;        ///< a newline follows
  bool too_long = false;     ///< a part of a line that is longer than allowed
  bool begins = true;        ///< false: a further part of such a line
};

/// The lines of a source, from its read position to its end.
///
/// Memory: one window, at least as large as the longest line that is allowed.
class LineReader {
 public:
  LineReader(io::ByteSource& source, std::size_t max_line_bytes)
      : reader_(source, 0, std::max(max_line_bytes, io::BufferedReader::kDefaultCapacity)),
        max_line_bytes_(max_line_bytes) {}

  /// The next line, valid until the next call; false at the end. Errors: those of the source.
  Result<bool> next(TextLine& line);

  /// At least `size` bytes from the beginning on, or as many as there are. Before the first line.
  Result<std::span<const std::byte>> head(std::size_t size) { return reader_.peek(size); }

  /// Offset behind the line that was given last.
  [[nodiscard]] std::uint64_t offset() const { return reader_.offset() + taken_; }

 private:
  Result<std::span<const std::byte>> peek();

  io::BufferedReader reader_;
  std::size_t max_line_bytes_;
  std::size_t taken_ = 0;
  bool in_long_line_ = false;
};

}  // namespace stackpack::capture
