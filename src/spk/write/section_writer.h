#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/zstd_codec.h"
#include "io/byte_source.h"
#include "io/output_file.h"
#include "spk/format/column_codec.h"
#include "spk/format/directory.h"
#include "spk/format/layout.h"
#include "spk/format/table_codec.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Writes the frame of a file: header, sections as blocks of one zstd frame each, directory and
/// trailer.
///
/// Order of calls: begin_file, then per section begin_section, add_block any number of times and
/// end_section; then finish_file. Sections do not overlap.
class SectionWriter {
 public:
  SectionWriter(io::OutputFile& out, int level);

  Status begin_file();
  void begin_section(SectionKind kind);

  /// Compresses and writes one block; of a table whose contents are all alike, so that it would
  /// pass its bounds, one in 256 bytes is stored as it is. The record has its size
  /// and checksum: a section whose blocks are listed in an index section keeps them there, all
  /// others in the directory.
  Result<BlockRecord> add_block(const BlockContent& content);

  /// Writes a block that was compressed elsewhere, at level() and in the parts of its content.
  Result<BlockRecord> add_frame(std::span<const std::byte> frame, std::uint32_t raw_bytes);

  void end_section(std::uint64_t items);

  /// Writes a whole section of another file as it is there. Errors: kTruncated, kIo.
  Status copy_section(const SectionRecord& section, io::ByteSource& file);

  Status finish_file();

  [[nodiscard]] int level() const { return level_; }

  /// Rows of a section that has ended; 0 without one.
  [[nodiscard]] std::uint64_t items(SectionKind kind) const {
    const SectionRecord* const section = directory_.find(kind);
    return section == nullptr ? 0 : section->items;
  }

  /// Records of the sections ended so far.
  [[nodiscard]] const std::vector<SectionRecord>& sections() const { return directory_.sections; }

 private:
  io::OutputFile& out_;
  std::uint64_t begin_;  // output offset of the first byte of the file
  int level_;
  codec::ZstdCompressor zstd_;
  std::vector<std::byte> frame_;
  Directory directory_;
};

/// What the caller of a writer is told of a rule that its rows break (table_rules.h): nothing is
/// written that no reader would take.
inline Status refused(const Status& rule) {
  return rule ? rule : Status{Error{ErrorCode::kLimit, kNoOffset, rule.error().what}};
}

/// Writes a table as a section, in blocks that hold few rows when the rows' texts are long.
/// Errors: those of the output file.
template <typename Row>
Status write_table(SectionWriter& sections, SectionKind kind, std::span<const Row> rows) {
  sections.begin_section(kind);
  BlockContent content;
  std::size_t begin = 0;
  while (begin < rows.size()) {
    std::size_t end = begin;
    std::size_t texts = 0;
    while (end < rows.size() && end - begin < kRowsPerTableBlock && texts < kTableTextTarget) {
      texts += text_bytes(rows[end++]);
    }
    content.clear();
    encode_rows(rows.subspan(begin, end - begin), content);
    if (const auto record = sections.add_block(content); !record) {
      return record.error();
    }
    begin = end;
  }
  sections.end_section(rows.size());
  return {};
}

}  // namespace stackpack::spk
