#include "spk/format/branch_entry_codec.h"

#include <cstddef>
#include <cstdint>

#include "bytes/byte_writer.h"
#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

std::uint64_t step(std::uint64_t to, std::uint64_t from) {
  return bytes::zigzag_encode(static_cast<std::int64_t>(to - from));
}

std::uint64_t undo_step(std::uint64_t from, std::uint64_t code) {
  return from + static_cast<std::uint64_t>(bytes::zigzag_decode(code));
}

}  // namespace

// A branch is first met below the one that was taken after it: code ran from its target to there.
void encode_branch_entries(std::span<const StackedBranch> rows, BlockContent& content) {
  content.bytes().write_varint(rows.size());
  std::vector<std::uint64_t> targets;
  std::vector<std::uint64_t> lengths;
  std::vector<std::uint64_t> flags;
  std::uint64_t newer = 0;
  for (const StackedBranch& row : rows) {
    targets.push_back(step(row.to, newer));
    lengths.push_back(step(row.from, row.to));
    flags.push_back(row.flags);
    newer = row.from;
  }
  write_numbers(targets, content);
  content.cut();
  write_numbers(lengths, content);
  content.cut();
  write_numbers(flags, content);
}

Status decode_branch_entries(bytes::ByteCursor in, std::vector<StackedBranch>& rows) {
  const std::uint64_t stored = read_varint(in);
  if (!in.ok() || stored == 0 || stored > kBranchEntriesPerBlock) {
    return in.corrupt("spk: branch entries: number of rows");
  }
  const auto count = static_cast<std::size_t>(stored);
  std::vector<std::uint64_t> targets;
  std::vector<std::uint64_t> lengths;
  std::vector<std::uint64_t> flags;
  for (std::vector<std::uint64_t>* const column : {&targets, &lengths, &flags}) {
    read_column(in, count, *column);
    if (!in.ok() || column->size() != count) {
      return in.corrupt("spk: branch entries: columns");
    }
  }
  if (in.remaining() != 0) {
    return in.corrupt("spk: branch entries: bytes after the columns");
  }
  std::uint64_t newer = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if ((flags[i] & kBranchCyclesMask) != 0) {
      return in.corrupt("spk: branch entries: cycles");
    }
    StackedBranch& row = rows.emplace_back();
    row.to = undo_step(newer, targets[i]);
    row.from = undo_step(row.to, lengths[i]);
    row.flags = flags[i];
    newer = row.from;
  }
  return {};
}

}  // namespace stackpack::spk
