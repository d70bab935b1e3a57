#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bytes/byte_cursor.h"

namespace stackpack::symbolize {

/// A run of code whose lines are together.
struct LineBlock {
  std::uint16_t section = 0;
  std::uint32_t offset = 0;  ///< in the section
  std::uint32_t size = 0;
  bool columns = false;
  std::size_t position = 0;  ///< of its lines in the module's line bytes
  std::size_t bytes = 0;
};

/// Code from an offset on, up to the next entry, belongs to a line.
struct LineEntry {
  std::uint32_t offset = 0;  ///< from the start of the block
  std::uint32_t file = 0;    ///< for ModuleLines::name_offset
  std::uint32_t line = 0;    ///< 0: code that has none
};

/// Where a function that was inlined is written.
struct InlineeLine {
  std::uint32_t inlinee = 0;
  std::uint32_t file = 0;
  std::uint32_t line = 0;
};

/// Lines of one object file: the C13 subsections of its stream.
///
/// Memory: 40 bytes a block, 12 an inlinee. The bytes given must outlive this.
/// Damage: what follows a subsection that reaches past the end is left out, and damaged() is true.
class ModuleLines {
 public:
  explicit ModuleLines(bytes::ByteCursor line_bytes);

  [[nodiscard]] const std::vector<LineBlock>& blocks() const { return blocks_; }

  /// Entries of a block by offset, in place of what `entries` has; false for a damaged block.
  bool read_entries(const LineBlock& block, std::vector<LineEntry>& entries) const;

  /// Where the name of a file begins in the table of names.
  [[nodiscard]] std::optional<std::uint32_t> name_offset(std::uint32_t file) const;

  /// Null when nothing is known of it.
  [[nodiscard]] const InlineeLine* inlinee(std::uint32_t id) const;

  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  void read_inlinees(bytes::ByteCursor in);
  void read_block_header(bytes::ByteCursor in, std::size_t position);

  bytes::ByteCursor line_bytes_;
  bytes::ByteCursor files_;
  std::vector<LineBlock> blocks_;
  std::vector<InlineeLine> inlinees_;  // by id
  bool damaged_ = false;
};

}  // namespace stackpack::symbolize
