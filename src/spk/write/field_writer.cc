#include "spk/write/field_writer.h"

#include "spk/format/field_codec.h"
#include "spk/format/layout.h"
#include "spk/write/table_writer.h"

namespace stackpack::spk {

Status FieldWriter::add(const FieldRow& row) {
  if (count_++ == 0) {
    out_.begin_section(SectionKind::kSampleFields);
  }
  rows_.push_back(row);
  return rows_.size() < kFieldRowsPerBlock ? Status{} : flush();
}

Status FieldWriter::flush() {
  if (rows_.empty()) {
    return {};
  }
  content_.clear();
  encode_fields(rows_, content_);
  rows_.clear();
  const Result<BlockRecord> added = out_.add_block(content_);
  return added ? Status{} : Status{added.error()};
}

Status FieldWriter::end(std::span<const ControlGroup> groups) {
  const Status flushed = flush();
  if (flushed && count_ != 0) {
    out_.end_section(count_);
  }
  return flushed && !groups.empty() ? write_table(out_, SectionKind::kControlGroups, groups)
                                    : flushed;
}

}  // namespace stackpack::spk
