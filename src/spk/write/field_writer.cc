#include "spk/write/field_writer.h"

#include "spk/format/field_codec.h"
#include "spk/format/layout.h"
#include "spk/write/table_writer.h"

namespace stackpack::spk {

Status FieldWriter::add(const FieldRow& row) {
  return rows_.add(row, encode_fields);
}

Status FieldWriter::end(std::span<const ControlGroup> groups) {
  const Status flushed = rows_.end(encode_fields);
  return flushed && !groups.empty() ? write_table(out_, SectionKind::kControlGroups, groups)
                                    : flushed;
}

}  // namespace stackpack::spk
