#include "spk/read/value_store.h"

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

}  // namespace stackpack::spk
