#include "spk/read/value_store.h"

#include <vector>

#include "spk/format/field_codec.h"
#include "spk/format/label_codec.h"
#include "spk/format/layout.h"
#include "spk/format/value_codec.h"
#include "spk/read/dag_store.h"

namespace stackpack::spk {

namespace {

Error wrong_number(const SectionRecord& section) {
  return {ErrorCode::kCorrupt, section.offset, "spk: event values: number of rows"};
}

// A small table in memory. `decode` appends the rows of a block.
template <typename Row, typename Decode>
Result<std::vector<Row>> read_small_table(BlockReader& blocks, const Directory& directory,
                                          SectionKind kind, const Decode& decode) {
  std::vector<Row> rows;
  const SectionRecord* const section = directory.find(kind);
  if (section == nullptr) {
    return rows;
  }
  BlockReader::Lease scratch = blocks.borrow();
  const Status done =
      for_each_block(blocks, *section, *scratch,
                     [&](const bytes::ByteCursor& in) -> Status { return decode(in, rows); });
  if (!done) {
    return done.error();
  }
  return rows.size() == section->items ? Result<std::vector<Row>>(std::move(rows))
                                       : Result<std::vector<Row>>(wrong_number(*section));
}

}  // namespace

Result<std::vector<ValueSchema>> read_value_kinds(BlockReader& blocks, const Directory& directory) {
  return read_small_table<ValueSchema>(
      blocks, directory, SectionKind::kValueKinds,
      [](const bytes::ByteCursor& in, std::vector<ValueSchema>& rows) {
        return rows.empty() ? decode_value_kinds(in, rows)
                            : Status(Error{ErrorCode::kCorrupt, kNoOffset,
                                           "spk: event values: kinds in more than one block"});
      });
}

Result<std::vector<std::string>> read_value_texts(BlockReader& blocks, const Directory& directory) {
  return read_small_table<std::string>(
      blocks, directory, SectionKind::kValueTexts,
      [](const bytes::ByteCursor& in, std::vector<std::string>& rows) {
        return decode_value_texts(in, rows);
      });
}

Status read_values(BlockReader& blocks, const Directory& directory, std::uint64_t stacks,
                   const std::function<bool(std::span<const EventValue>)>& visit) {
  const SectionRecord* const section = directory.find(SectionKind::kEventValues);
  if (section == nullptr) {
    return {};
  }
  const Result<std::vector<ValueSchema>> kinds = read_value_kinds(blocks, directory);
  if (!kinds) {
    return kinds.error();
  }
  const SectionRecord* const texts = directory.find(SectionKind::kValueTexts);
  const ValueBounds bounds{stacks, texts == nullptr ? 0 : texts->items, *kinds};
  BlockReader::Lease scratch = blocks.borrow();
  std::vector<EventValue> rows;
  std::uint64_t count = 0;
  std::uint64_t latest_ns = 0;
  bool stopped = false;
  const Status done =
      for_each_block(blocks, *section, *scratch, [&](const bytes::ByteCursor& in) -> Status {
        if (stopped) {
          return {};
        }
        if (const Status decoded = decode_values(in, bounds, rows); !decoded) {
          return decoded;
        }
        if (rows.front().time_ns < latest_ns) {
          return Error{ErrorCode::kCorrupt, kNoOffset, "spk: event values: not in order of time"};
        }
        latest_ns = rows.back().time_ns;
        count += rows.size();
        stopped = !visit(rows);
        return {};
      });
  if (!done || stopped) {
    return done;
  }
  return count == section->items ? Status{} : Status{wrong_number(*section)};
}

Status read_label_sets(BlockReader& blocks, const Directory& directory,
                       const std::function<bool(std::span<const LabelSet>)>& visit) {
  const SectionRecord* const section = directory.find(SectionKind::kLabelSets);
  if (section == nullptr) {
    return {};
  }
  BlockReader::Lease scratch = blocks.borrow();
  std::vector<LabelSet> sets;
  std::uint64_t count = 0;
  bool stopped = false;
  const Status done =
      for_each_block(blocks, *section, *scratch, [&](const bytes::ByteCursor& in) -> Status {
        if (stopped) {
          return {};
        }
        sets.clear();
        const Status decoded = decode_label_sets(in, sets);
        count += sets.size();
        stopped = decoded && !visit(sets);
        return decoded;
      });
  return !done || stopped || count == section->items
             ? done
             : Status(
                   Error{ErrorCode::kCorrupt, section->offset, "spk: label sets: number of rows"});
}

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
