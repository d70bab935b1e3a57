#include "spk/format/name_codec.h"

#include <limits>
#include <tuple>
#include <utility>

#include "bytes/byte_text.h"
#include "bytes/byte_writer.h"
#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

std::uint64_t order_of_time(std::uint64_t time_ns) {
  return time_ns + 1;  // what is not known comes first
}

std::uint32_t place_of(const CodeRange& range) {
  return range.owner == FunctionOwner::kImage ? range.module : range.pid;
}

auto key_of(const CodeRange& range) {
  return std::tuple(range.owner, place_of(range), range.start, order_of_time(range.life_ns));
}

// Columns of a block under construction, one value each per row.
class ColumnWriter {
 public:
  explicit ColumnWriter(BlockContent& content) : content_(content) {}

  template <typename Rows, typename Get>
  void column(const Rows& rows, Get get) {
    values_.clear();
    for (const auto& row : rows) {
      values_.push_back(get(row));
    }
    write_numbers(values_, content_);
  }

 private:
  BlockContent& content_;
  std::vector<std::uint64_t> values_;
};

// Texts by their distance from the next new one: 0 none, 1 new, 2 the one before that, ...
class TextCoder {
 public:
  explicit TextCoder(std::uint32_t& texts) : texts_(texts) {}

  std::uint64_t code(std::uint32_t number) {
    if (number == kNoText) {
      return 0;
    }
    const std::uint64_t back = std::uint64_t{texts_} - number;
    texts_ += back == 0 ? 1 : 0;
    return 1 + back;
  }

  // False: there is no such text.
  bool number(std::uint64_t code, std::uint32_t& number) {
    if (code == 0) {
      number = kNoText;
      return true;
    }
    if (code - 1 > texts_ || texts_ == kNoText - 1) {
      return false;
    }
    number = texts_ - static_cast<std::uint32_t>(code - 1);
    texts_ += code == 1 ? 1 : 0;
    return true;
  }

 private:
  std::uint32_t& texts_;
};

// The texts of each row one after the other, in columns.
template <typename Row, std::size_t kCount>
void write_texts(std::span<const Row> rows, std::uint32_t Row::*const (&fields)[kCount],
                 std::uint32_t& texts, BlockContent& content) {
  TextCoder coder(texts);
  std::vector<std::uint64_t> columns[kCount];
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kCount; ++i) {
      columns[i].push_back(coder.code(row.*fields[i]));
    }
  }
  for (const std::vector<std::uint64_t>& column : columns) {
    write_numbers(column, content);
  }
}

template <typename Row, std::size_t kCount>
bool read_texts(bytes::ByteCursor& in, std::span<Row> rows,
                std::uint32_t Row::*const (&fields)[kCount], std::uint32_t& texts) {
  TextCoder coder(texts);
  std::vector<std::uint64_t> columns[kCount];
  for (std::vector<std::uint64_t>& column : columns) {
    read_column(in, rows.size(), column);
  }
  if (!in.ok()) {
    return false;
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < kCount; ++i) {
      if (!coder.number(columns[i][r], rows[r].*fields[i])) {
        return false;
      }
    }
  }
  return true;
}

constexpr std::uint32_t Function::*const kFunctionTexts[] = {&Function::name, &Function::linkage,
                                                             &Function::file};
constexpr std::uint32_t InlinedCall::*const kInlinedTexts[] = {
    &InlinedCall::name, &InlinedCall::linkage, &InlinedCall::call_file};
constexpr std::uint32_t CodeLine::*const kLineTexts[] = {&CodeLine::file};

template <typename Row>
void write_head(std::span<const Row> rows, std::uint32_t texts, BlockContent& content) {
  content.bytes().write_varint(rows.size());
  content.bytes().write_varint(texts);
}

template <typename Row>
void write_ranges(std::span<const Row> rows, BlockContent& content) {
  ColumnWriter out(content);
  out.column(rows, [](const Row& row) { return static_cast<std::uint64_t>(row.owner); });
  out.column(rows, [](const Row& row) { return std::uint64_t{place_of(row)}; });
  out.column(rows, [](const Row& row) { return row.life_ns + 1; });
  const Row* last = nullptr;
  out.column(rows, [&last](const Row& row) {
    const bool same =
        last != nullptr && last->owner == row.owner && place_of(*last) == place_of(row);
    const std::uint64_t distance = row.start - (same ? last->start : 0);
    last = &row;
    return distance;
  });
  out.column(rows, [](const Row& row) { return row.size; });
}

// Births by their distance from the known one before.
template <typename Rows, typename Get>
void write_births(ColumnWriter& out, const Rows& rows, Get born_of) {
  std::uint64_t last = 0;
  out.column(rows, [&](const auto& row) -> std::uint64_t {
    const std::uint64_t born = born_of(row);
    const std::uint64_t code = bytes::zigzag_encode(static_cast<std::int64_t>(born - last));
    if (born == kUnknownTime || code == ~std::uint64_t{0}) {
      return 0;
    }
    last = born;
    return code + 1;
  });
}

// Reads the columns of a table into its rows; sticky failure.
template <typename Row>
class ColumnReader {
 public:
  ColumnReader(bytes::ByteCursor& in, std::span<Row> rows) : in_(in), rows_(rows) {}

  // `set(row, value)` is false when the value cannot be.
  template <typename Set>
  void column(Set set) {
    read_column(in_, rows_.size(), values_);
    for (std::size_t i = 0; ok() && i < rows_.size(); ++i) {
      good_ = set(rows_[i], values_[i]);
    }
  }
  [[nodiscard]] bool ok() const { return good_ && in_.ok(); }

 private:
  bytes::ByteCursor& in_;
  std::span<Row> rows_;
  bool good_ = true;
  std::vector<std::uint64_t> values_;
};

template <typename Row>
void read_ranges(ColumnReader<Row>& in) {
  in.column([](Row& row, std::uint64_t value) {
    row.owner = static_cast<FunctionOwner>(value);
    return value <= static_cast<std::uint64_t>(FunctionOwner::kImage);
  });
  in.column([](Row& row, std::uint64_t value) {
    const auto number = static_cast<std::uint32_t>(value);
    (row.owner == FunctionOwner::kImage ? row.module : row.pid) = number;
    return value <= kMax32;
  });
  in.column([](Row& row, std::uint64_t value) {
    row.life_ns = value - 1;
    return is_owned(row);
  });
  const Row* last = nullptr;
  in.column([&last](Row& row, std::uint64_t value) {
    const bool same =
        last != nullptr && last->owner == row.owner && place_of(*last) == place_of(row);
    row.start = value + (same ? last->start : 0);
    last = &row;
    return row.start >= value;
  });
  in.column([](Row& row, std::uint64_t value) {
    row.size = value;
    return is_addressable(row);
  });
}

// The rows of a block, appended and still empty; none when their number cannot be.
template <typename Row>
std::span<Row> make_rows(bytes::ByteCursor& in, std::uint32_t texts, std::vector<Row>& rows) {
  const std::uint64_t count = read_varint(in);
  const std::uint64_t first_text = read_varint(in);
  if (!in.ok() || count == 0 || count > kNamesPerBlock || first_text != texts) {
    return {};
  }
  const std::size_t old_size = rows.size();
  rows.resize(old_size + static_cast<std::size_t>(count));
  return std::span(rows).subspan(old_size);
}

Status finish(const bytes::ByteCursor& in, bool good) {
  return good && in.ok() && in.remaining() == 0 ? Status{} : in.corrupt("spk: names: fields");
}

// Whether the rows from `first` on, and the one before, are in order.
template <typename Row>
bool sorted_from(const std::vector<Row>& rows, std::size_t first) {
  for (std::size_t i = first == 0 ? 1 : first; i < rows.size(); ++i) {
    if (!in_order(rows[i - 1], rows[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool in_order(const Function& a, const Function& b) {
  return std::tuple(key_of(a), order_of_time(a.born_ns)) <=
         std::tuple(key_of(b), order_of_time(b.born_ns));
}

// Births may be in a section of their own: they do not count.
bool in_order(const CodeLine& a, const CodeLine& b) {
  return key_of(a) <= key_of(b);
}

void encode_names(std::span<const Function> rows, std::uint32_t& texts, BlockContent& content) {
  write_head(rows, texts, content);
  write_ranges(rows, content);
  ColumnWriter out(content);
  write_births(out, rows, [](const Function& row) { return row.born_ns; });
  out.column(rows, [](const Function& row) { return static_cast<std::uint64_t>(row.source); });
  out.column(rows, [](const Function& row) { return std::uint64_t{row.line}; });
  write_texts(rows, kFunctionTexts, texts, content);
}

void encode_names(std::span<const InlinedCall> rows, std::uint64_t first_row, std::uint32_t& texts,
                  BlockContent& content) {
  write_head(rows, texts, content);
  ColumnWriter out(content);
  std::uint64_t number = first_row;
  out.column(rows, [&number](const InlinedCall& row) {
    const std::uint64_t own = number++;
    return row.parent == kNoInline ? 0 : own - row.parent;
  });
  out.column(rows, [](const InlinedCall& row) { return std::uint64_t{row.call_line}; });
  write_texts(rows, kInlinedTexts, texts, content);
}

void encode_names(std::span<const CodeLine> rows, std::uint32_t& texts, BlockContent& content) {
  write_head(rows, texts, content);
  write_ranges(rows, content);
  ColumnWriter out(content);
  std::uint64_t last = 0;
  out.column(rows, [&last](const CodeLine& row) -> std::uint64_t {
    const std::uint64_t number = row.inlined == kNoInline ? 0 : std::uint64_t{row.inlined} + 1;
    const std::uint64_t code = bytes::zigzag_encode(static_cast<std::int64_t>(number - last));
    last = number;
    return code;
  });
  last = 0;
  out.column(rows, [&last](const CodeLine& row) {
    const std::uint64_t code =
        bytes::zigzag_encode(static_cast<std::int64_t>(std::uint64_t{row.line} - last));
    last = row.line;
    return code;
  });
  write_texts(rows, kLineTexts, texts, content);
}

void encode_births(std::span<const std::uint64_t> rows, BlockContent& content) {
  content.bytes().write_varint(rows.size());
  ColumnWriter out(content);
  write_births(out, rows, [](std::uint64_t born) { return born; });
}

void encode_alias_names(std::span<const std::uint32_t> rows, BlockContent& content) {
  content.bytes().write_varint(rows.size());
  ColumnWriter out(content);
  std::uint32_t last = 0;
  out.column(rows,
             [&last](std::uint32_t row) { return std::uint64_t{row - std::exchange(last, row)}; });
}

void encode_texts(std::span<const std::string> rows, BlockContent& content) {
  content.bytes().write_varint(rows.size());
  ColumnWriter out(content);
  out.column(rows, [](const std::string& row) { return std::uint64_t{row.size()}; });
  for (const std::string& row : rows) {
    content.bytes().write_text(row);
  }
}

Status decode_names(bytes::ByteCursor in, std::uint32_t& texts, std::vector<Function>& rows) {
  const std::span<Function> fresh = make_rows(in, texts, rows);
  if (fresh.empty()) {
    return in.corrupt("spk: functions: rows");
  }
  ColumnReader<Function> columns(in, fresh);
  read_ranges(columns);
  std::uint64_t last = 0;
  columns.column([&last](Function& row, std::uint64_t value) {
    if (value != 0) {
      last += static_cast<std::uint64_t>(bytes::zigzag_decode(value - 1));
      row.born_ns = last;
    }
    return true;
  });
  columns.column([](Function& row, std::uint64_t value) {
    row.source = value < kFunctionSourceCount ? static_cast<FunctionSource>(value)
                                              : FunctionSource::kUnknown;
    return true;  // later versions may know others
  });
  columns.column([](Function& row, std::uint64_t value) {
    row.line = static_cast<std::uint32_t>(value);
    return value <= kMax32;
  });
  const bool good = columns.ok() && read_texts(in, fresh, kFunctionTexts, texts) &&
                    sorted_from(rows, rows.size() - fresh.size());
  return finish(in, good);
}

Status decode_names(bytes::ByteCursor in, std::uint32_t& texts, std::vector<InlinedCall>& rows) {
  const std::span<InlinedCall> fresh = make_rows(in, texts, rows);
  if (fresh.empty()) {
    return in.corrupt("spk: inlined calls: rows");
  }
  ColumnReader<InlinedCall> columns(in, fresh);
  std::uint64_t number = rows.size() - fresh.size();
  columns.column([&number](InlinedCall& row, std::uint64_t value) {
    const std::uint64_t own = number++;
    row.parent = value == 0 ? kNoInline : static_cast<std::uint32_t>(own - value);
    return value <= own && own < kNoInline;
  });
  columns.column([](InlinedCall& row, std::uint64_t value) {
    row.call_line = static_cast<std::uint32_t>(value);
    return value <= kMax32;
  });
  return finish(in, columns.ok() && read_texts(in, fresh, kInlinedTexts, texts));
}

Status decode_names(bytes::ByteCursor in, std::uint32_t& texts, std::vector<CodeLine>& rows) {
  const std::span<CodeLine> fresh = make_rows(in, texts, rows);
  if (fresh.empty()) {
    return in.corrupt("spk: lines: rows");
  }
  ColumnReader<CodeLine> columns(in, fresh);
  read_ranges(columns);
  std::uint64_t last = 0;
  columns.column([&last](CodeLine& row, std::uint64_t value) {
    last += static_cast<std::uint64_t>(bytes::zigzag_decode(value));
    row.inlined = static_cast<std::uint32_t>(last - 1);
    return last <= kMax32;
  });
  last = 0;
  columns.column([&last](CodeLine& row, std::uint64_t value) {
    last += static_cast<std::uint64_t>(bytes::zigzag_decode(value));
    row.line = static_cast<std::uint32_t>(last);
    return last <= kMax32;
  });
  const bool good = columns.ok() && read_texts(in, fresh, kLineTexts, texts) &&
                    sorted_from(rows, rows.size() - fresh.size());
  return finish(in, good);
}

Status decode_births(bytes::ByteCursor in, std::vector<std::uint64_t>& rows) {
  const std::uint64_t count = read_varint(in);
  if (!in.ok() || count == 0 || count > kNamesPerBlock) {
    return in.corrupt("spk: line births: rows");
  }
  std::vector<std::uint64_t> codes;
  read_column(in, static_cast<std::size_t>(count), codes);
  std::uint64_t last = 0;
  for (const std::uint64_t code : codes) {
    last += code == 0 ? 0 : static_cast<std::uint64_t>(bytes::zigzag_decode(code - 1));
    rows.push_back(code == 0 ? kUnknownTime : last);
  }
  return finish(in, true);
}

Status decode_alias_names(bytes::ByteCursor in, std::vector<FunctionAlias>& rows) {
  const std::uint64_t count = read_varint(in);
  if (!in.ok() || count == 0 || count > kNamesPerBlock) {
    return in.corrupt("spk: function aliases: rows");
  }
  std::vector<std::uint64_t> distances;
  read_column(in, static_cast<std::size_t>(count), distances);
  std::uint64_t name = 0;
  for (const std::uint64_t distance : distances) {
    if (distance > kNoText - name) {
      return in.corrupt("spk: function aliases: names");
    }
    name += distance;
    rows.push_back({static_cast<std::uint32_t>(name), kNoText});
  }
  return finish(in, true);
}

Status decode_texts(bytes::ByteCursor in, TextTable& rows) {
  const std::uint64_t count = read_varint(in);
  if (!in.ok() || count == 0 || count > kRowsPerTableBlock) {
    return in.corrupt("spk: texts: rows");
  }
  std::vector<std::uint64_t> lengths;
  read_column(in, static_cast<std::size_t>(count), lengths);
  for (const std::uint64_t length : lengths) {
    const std::span<const std::byte> bytes = in.read_bytes(length);
    rows.add(bytes::text_of(bytes));
  }
  return in.ok() && in.remaining() == 0 ? Status{} : in.corrupt("spk: texts: bytes");
}

}  // namespace stackpack::spk
