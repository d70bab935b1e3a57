#include "spk/format/branch_codec.h"

#include <cstddef>
#include <cstdint>

#include "bytes/byte_writer.h"
#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

constexpr std::uint64_t kMostOfColumn = ~std::uint64_t{0};
constexpr std::uint64_t kMostType = 0xFF;

std::uint64_t zigzag_difference(std::uint64_t a, std::uint64_t b) {
  return bytes::zigzag_encode(static_cast<std::int64_t>(a - b));
}

std::uint64_t undo_zigzag(std::uint64_t base, std::uint64_t code) {
  return base + static_cast<std::uint64_t>(bytes::zigzag_decode(code));
}

std::uint64_t image_code(std::uint32_t image) {
  return (std::uint64_t{image} + 1) & kMax32;  // none is 0
}

std::uint32_t image_of(std::uint64_t code) {
  return static_cast<std::uint32_t>(code - 1);
}

template <typename Row, typename Get>
void put_column(std::span<const Row> rows, BlockContent& content, Get get) {
  std::vector<std::uint64_t> values;
  values.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    values.push_back(get(rows[i], i == 0 ? nullptr : &rows[i - 1]));
  }
  write_numbers(values, content);
}

// A column into a field of each row: `set(row, value, row before or null)`; a value above `limit`
// fails.
template <typename Row, typename Set>
void take_column(bytes::ByteCursor& in, std::span<Row> rows, std::uint64_t limit, Set set) {
  std::vector<std::uint64_t> values;
  read_column(in, rows.size(), values);
  for (std::size_t i = 0; in.ok() && i < rows.size(); ++i) {
    if (values[i] > limit) {
      in.skip(~std::uint64_t{0});  // marks the cursor failed
      return;
    }
    set(rows[i], values[i], i == 0 ? nullptr : &rows[i - 1]);
  }
}

// Where an address is given as the distance from that of the row before.
bool follows(const BranchEdge& row, const BranchEdge* before) {
  return before != nullptr && before->event == row.event && before->from_image == row.from_image;
}
bool follows(const BranchRange& row, const BranchRange* before) {
  return before != nullptr && before->event == row.event && before->image == row.image;
}

bool is_good(const BranchEdge& row) {
  return row.count != 0 && row.mispredicted <= row.count && row.head_duplicates <= row.count;
}
bool is_good(const BranchRange& row) {
  return row.count != 0 && row.image != kNoImage && row.begin <= row.end &&
         row.head_duplicates <= row.count && row.wrong_path <= row.count;
}

// Makes room for the rows of a block; none when their number cannot be.
template <typename Row>
std::span<Row> open_rows(bytes::ByteCursor& in, std::vector<Row>& rows) {
  const std::uint64_t count = read_varint(in);
  if (!in.ok() || count == 0 || count > kRowsPerTableBlock) {
    return {};
  }
  const std::size_t before = rows.size();
  rows.resize(before + static_cast<std::size_t>(count));
  return std::span(rows).subspan(before);
}

// What all rows of a section keep, the first of the block with the last of the block before.
template <typename Row>
Status check_rows(const bytes::ByteCursor& in, std::span<const Row> fresh,
                  std::span<const Row> all) {
  if (!in.ok() || in.remaining() != 0) {
    return in.corrupt("spk: branches: fields");
  }
  const std::size_t first = all.size() - fresh.size();
  for (std::size_t i = first; i < all.size(); ++i) {
    if (!is_good(all[i])) {
      return in.corrupt("spk: branches: counts");
    }
    if (i != 0 && branch_key(all[i - 1]) >= branch_key(all[i])) {
      return in.corrupt("spk: branches are not in order");
    }
  }
  return {};
}

std::uint64_t step(std::uint64_t to, std::uint64_t from) {
  return bytes::zigzag_encode(static_cast<std::int64_t>(to - from));
}

std::uint64_t undo_step(std::uint64_t from, std::uint64_t code) {
  return from + static_cast<std::uint64_t>(bytes::zigzag_decode(code));
}

}  // namespace

bool may_follow(const BranchEdge& row, const BranchEdge* before) {
  return is_good(row) && (before == nullptr || branch_key(*before) < branch_key(row));
}
bool may_follow(const BranchRange& row, const BranchRange* before) {
  return is_good(row) && (before == nullptr || branch_key(*before) < branch_key(row));
}

void encode_branches(std::span<const BranchEdge> rows, BlockContent& content) {
  using Row = BranchEdge;
  content.bytes().write_varint(rows.size());
  put_column(rows, content, [](const Row& row, const Row*) { return std::uint64_t{row.event}; });
  put_column(rows, content, [](const Row& row, const Row*) { return image_code(row.from_image); });
  put_column(rows, content, [](const Row& row, const Row* before) {
    return follows(row, before) ? row.from - before->from : row.from;
  });
  put_column(rows, content, [](const Row& row, const Row*) {
    return zigzag_difference(image_code(row.to_image), image_code(row.from_image));
  });
  put_column(rows, content, [](const Row& row, const Row*) {
    return row.to_image == row.from_image ? zigzag_difference(row.to, row.from) : row.to;
  });
  put_column(rows, content,
             [](const Row& row, const Row*) { return static_cast<std::uint64_t>(row.type); });
  put_column(rows, content,
             [](const Row& row, const Row*) { return std::uint64_t{row.wrong_path ? 1U : 0U}; });
  put_column(rows, content, [](const Row& row, const Row*) { return row.count; });
  put_column(rows, content, [](const Row& row, const Row*) { return row.mispredicted; });
  put_column(rows, content, [](const Row& row, const Row*) { return row.cycles; });
  put_column(rows, content, [](const Row& row, const Row*) { return row.head_duplicates; });
}

void encode_branches(std::span<const BranchRange> rows, BlockContent& content) {
  using Row = BranchRange;
  content.bytes().write_varint(rows.size());
  put_column(rows, content, [](const Row& row, const Row*) { return std::uint64_t{row.event}; });
  put_column(rows, content, [](const Row& row, const Row*) { return image_code(row.image); });
  put_column(rows, content, [](const Row& row, const Row* before) {
    return follows(row, before) ? row.begin - before->begin : row.begin;
  });
  put_column(rows, content, [](const Row& row, const Row*) { return row.end - row.begin; });
  put_column(rows, content, [](const Row& row, const Row*) { return row.count; });
  put_column(rows, content, [](const Row& row, const Row*) { return row.head_duplicates; });
  put_column(rows, content, [](const Row& row, const Row*) { return row.wrong_path; });
}

Status decode_branches(bytes::ByteCursor in, std::vector<BranchEdge>& all) {
  using Row = BranchEdge;
  const std::span<Row> rows = open_rows(in, all);
  if (rows.empty()) {
    return in.corrupt("spk: branches: rows");
  }
  take_column(in, rows, kMax32, [](Row& row, std::uint64_t value, const Row*) {
    row.event = static_cast<std::uint32_t>(value);
  });
  take_column(in, rows, kMax32,
              [](Row& row, std::uint64_t value, const Row*) { row.from_image = image_of(value); });
  take_column(in, rows, kMostOfColumn, [](Row& row, std::uint64_t value, const Row* before) {
    row.from = follows(row, before) ? before->from + value : value;
  });
  bool fits = true;
  take_column(in, rows, kMostOfColumn, [&fits](Row& row, std::uint64_t value, const Row*) {
    const std::uint64_t code = undo_zigzag(image_code(row.from_image), value);
    fits = fits && code <= kMax32;
    row.to_image = image_of(code);
  });
  take_column(in, rows, kMostOfColumn, [](Row& row, std::uint64_t value, const Row*) {
    row.to = row.to_image == row.from_image ? undo_zigzag(row.from, value) : value;
  });
  take_column(in, rows, kMostType, [](Row& row, std::uint64_t value, const Row*) {
    row.type = static_cast<BranchType>(value);
  });
  take_column(in, rows, 1,
              [](Row& row, std::uint64_t value, const Row*) { row.wrong_path = value != 0; });
  take_column(in, rows, kMostOfColumn,
              [](Row& row, std::uint64_t value, const Row*) { row.count = value; });
  take_column(in, rows, kMostOfColumn,
              [](Row& row, std::uint64_t value, const Row*) { row.mispredicted = value; });
  take_column(in, rows, kMostOfColumn,
              [](Row& row, std::uint64_t value, const Row*) { row.cycles = value; });
  take_column(in, rows, kMostOfColumn,
              [](Row& row, std::uint64_t value, const Row*) { row.head_duplicates = value; });
  return fits ? check_rows<Row>(in, rows, all) : in.corrupt("spk: branches: image");
}

Status decode_branches(bytes::ByteCursor in, std::vector<BranchRange>& all) {
  using Row = BranchRange;
  const std::span<Row> rows = open_rows(in, all);
  if (rows.empty()) {
    return in.corrupt("spk: branches: rows");
  }
  take_column(in, rows, kMax32, [](Row& row, std::uint64_t value, const Row*) {
    row.event = static_cast<std::uint32_t>(value);
  });
  take_column(in, rows, kMax32,
              [](Row& row, std::uint64_t value, const Row*) { row.image = image_of(value); });
  take_column(in, rows, kMostOfColumn, [](Row& row, std::uint64_t value, const Row* before) {
    row.begin = follows(row, before) ? before->begin + value : value;
  });
  take_column(in, rows, kMostOfColumn,
              [](Row& row, std::uint64_t value, const Row*) { row.end = row.begin + value; });
  take_column(in, rows, kMostOfColumn,
              [](Row& row, std::uint64_t value, const Row*) { row.count = value; });
  take_column(in, rows, kMostOfColumn,
              [](Row& row, std::uint64_t value, const Row*) { row.head_duplicates = value; });
  take_column(in, rows, kMostOfColumn,
              [](Row& row, std::uint64_t value, const Row*) { row.wrong_path = value; });
  return check_rows<Row>(in, rows, all);
}

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
