#include "spk/read/field_store.h"

#include <vector>

#include "spk/format/field_codec.h"
#include "spk/format/layout.h"

namespace stackpack::spk {

Status read_field_block(BlockReader& blocks, const Directory& directory, std::size_t number,
                        std::vector<FieldRow>& rows) {
  rows.clear();
  const SectionRecord* const section = directory.find(SectionKind::kSampleFields);
  if (section == nullptr || number >= section->blocks.size()) {
    return {};
  }
  // A file of counts alone has no samples with numbers.
  const SectionRecord* const samples = directory.find(SectionKind::kSamples);
  std::uint64_t offset = section->offset;
  for (std::size_t i = 0; i < number; ++i) {
    offset += section->blocks[i].stored_bytes;
  }
  BlockReader::Lease scratch = blocks.borrow();
  const auto content = blocks.read(offset, section->blocks[number], *scratch);
  if (!content) {
    return content.error();
  }
  const Status decoded =
      decode_fields(bytes::ByteCursor(*content, 0), samples == nullptr ? 0 : samples->items, rows);
  if (!decoded) {
    Error error = decoded.error();
    error.offset = offset;
    return error;
  }
  return {};
}

Status read_fields(BlockReader& blocks, const Directory& directory,
                   const std::function<bool(std::span<const FieldRow>)>& visit) {
  const SectionRecord* const section = directory.find(SectionKind::kSampleFields);
  if (section == nullptr) {
    return {};
  }
  std::vector<FieldRow> rows;
  std::uint64_t count = 0;
  std::uint64_t next = 0;
  for (std::size_t number = 0; number < section->blocks.size(); ++number) {
    if (const Status read = read_field_block(blocks, directory, number, rows); !read) {
      return read;
    }
    if (rows.front().sample < next) {
      return Error{ErrorCode::kCorrupt, section->offset, "spk: sample fields: not in order"};
    }
    next = rows.back().sample + 1;
    count += rows.size();
    if (!visit(rows)) {
      return {};
    }
  }
  return count == section->items ? Status{}
                                 : Status(Error{ErrorCode::kCorrupt, section->offset,
                                                "spk: sample fields: number of rows"});
}

}  // namespace stackpack::spk
