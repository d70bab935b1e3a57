#pragma once

#include <cstddef>
#include <span>

#include "spk/format/layout.h"
#include "spk/format/table_codec.h"
#include "spk/write/section_writer.h"
#include "stackpack/result.h"

namespace stackpack::spk {

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
