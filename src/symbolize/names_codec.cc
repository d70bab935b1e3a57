#include "symbolize/names_codec.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "bytes/byte_cursor.h"
#include "bytes/byte_writer.h"

namespace stackpack::symbolize {

namespace {

using bytes::ByteCursor;
using bytes::ByteWriter;

template <typename Losses, typename Visit>
void for_each_loss(Losses& losses, const Visit& visit) {
  visit(losses.damaged_parts);
  visit(losses.missing_files);
  visit(losses.other_builds);
  visit(losses.kernel_not_placed);
  visit(losses.nameless_calls);
  visit(losses.unread_names);
  visit(losses.functions_there);
}

// No number: 0; else the number + 1.
void write_number(ByteWriter& out, std::uint32_t number) {
  out.write_varint(number == kNoText ? 0 : std::uint64_t{number} + 1);
}

/// Reads what write_number wrote; `ok` becomes false when there is no such row.
std::uint32_t read_number(ByteCursor& in, std::size_t rows, bool& ok) {
  const std::uint64_t code = in.read_varint();
  ok = ok && code <= rows;
  return code == 0 || !ok ? kNoText : static_cast<std::uint32_t>(code - 1);
}

template <typename Row>
void write_range(ByteWriter& out, const Row& row) {
  out.write_varint(row.start);
  out.write_varint(row.size);
}

template <typename Row>
void read_range(ByteCursor& in, Row& row, bool& ok) {
  row.owner = FunctionOwner::kImage;
  row.start = in.read_varint();
  row.size = in.read_varint();
  ok = ok && row.size != 0 && row.size <= ~row.start;
}

std::uint32_t read_u32(ByteCursor& in, bool& ok) {
  const std::uint64_t value = in.read_varint();
  ok = ok && value <= ~std::uint32_t{0};
  return static_cast<std::uint32_t>(value);
}

void write_row(ByteWriter& out, const Function& row) {
  write_range(out, row);
  out.write_varint(row.born_ns + 1);  // unknown: 0
  out.write(static_cast<std::uint8_t>(row.source));
  write_number(out, row.name);
  write_number(out, row.linkage);
  write_number(out, row.file);
  out.write_varint(row.line);
}

void write_row(ByteWriter& out, const InlinedCall& row) {
  write_number(out, row.parent);
  write_number(out, row.name);
  write_number(out, row.linkage);
  write_number(out, row.call_file);
  out.write_varint(row.call_line);
}

void write_row(ByteWriter& out, const CodeLine& row) {
  write_range(out, row);
  out.write_varint(row.born_ns + 1);  // unknown: 0
  write_number(out, row.inlined);
  write_number(out, row.file);
  out.write_varint(row.line);
}

void write_row(ByteWriter& out, const FunctionAlias& row) {
  write_number(out, row.name);
  write_number(out, row.alias);
}

template <typename Row>
void write_rows(ByteWriter& out, const std::vector<Row>& rows) {
  out.write_varint(rows.size());
  for (const Row& row : rows) {
    write_row(out, row);
  }
}

/// Reads what was written, row by row; whatever it meets, it does not read on when it is damaged.
class AnswerReader {
 public:
  AnswerReader(std::span<const std::byte> bytes, const SymbolLimits& limits)
      : in_(bytes, 0), limits_(limits) {}

  Result<FoundNames> read() {
    FoundNames found;
    for_each_loss(found.losses, [this](std::uint64_t& count) { count = in_.read_varint(); });
    Names& names = found.names;
    for (std::size_t left = count(); left > 0 && ok_; --left) {
      read_text(names.texts);
    }
    texts_ = names.texts.size();
    read_rows(names.functions, [this] { return function(); });
    read_rows(names.inlined, [this, &names] { return inlined_call(names.inlined.size()); });
    read_rows(names.lines, [this, &names] { return line(names.inlined.size()); });
    if (in_.remaining() != 0) {
      read_rows(names.aliases, [this] { return alias(); });
    }
    if (!ok_ || !in_.ok() || in_.remaining() != 0) {
      return in_.corrupt("symbols: the answer of a reader is damaged");
    }
    return found;
  }

 private:
  // How many rows follow: each has a byte at least.
  std::size_t count() {
    const std::uint64_t rows = in_.read_varint();
    ok_ = ok_ && in_.ok() && rows <= in_.remaining() && rows <= limits_.rows;
    return ok_ ? static_cast<std::size_t>(rows) : 0;
  }

  template <typename Row, typename Read>
  void read_rows(std::vector<Row>& rows, const Read& read) {
    for (std::size_t left = count(); left > 0 && ok_; --left) {
      rows.push_back(read());
      ok_ = ok_ && in_.ok();
    }
  }

  void read_text(TextTable& texts) {
    const std::uint64_t size = in_.read_varint();
    ok_ = ok_ && in_.ok() && size != 0 && size <= limits_.name_bytes;
    ByteCursor text(in_.read_bytes(ok_ ? size : 0), 0);
    std::string characters;
    characters.reserve(text.size());
    for (const std::byte byte : text.rest()) {
      characters.push_back(static_cast<char>(byte));
    }
    texts.add(characters);
    ok_ = ok_ && in_.ok();
  }

  Function function() {
    Function row;
    read_range(in_, row, ok_);
    row.born_ns = in_.read_varint() - 1;
    const auto source = in_.read<std::uint8_t>();
    ok_ = ok_ && source < kFunctionSourceCount;
    row.source = static_cast<FunctionSource>(ok_ ? source : 0);
    row.name = read_number(in_, texts_, ok_);
    row.linkage = read_number(in_, texts_, ok_);
    row.file = read_number(in_, texts_, ok_);
    row.line = read_u32(in_, ok_);
    return row;
  }

  InlinedCall inlined_call(std::size_t before) {
    InlinedCall row;
    row.parent = read_number(in_, before, ok_);
    row.name = read_number(in_, texts_, ok_);
    ok_ = ok_ && row.name != kNoText;
    row.linkage = read_number(in_, texts_, ok_);
    row.call_file = read_number(in_, texts_, ok_);
    row.call_line = read_u32(in_, ok_);
    return row;
  }

  CodeLine line(std::size_t calls) {
    CodeLine row;
    read_range(in_, row, ok_);
    row.born_ns = in_.read_varint() - 1;
    row.inlined = read_number(in_, calls, ok_);
    row.file = read_number(in_, texts_, ok_);
    row.line = read_u32(in_, ok_);
    return row;
  }

  FunctionAlias alias() {
    FunctionAlias row;
    row.name = read_number(in_, texts_, ok_);
    row.alias = read_number(in_, texts_, ok_);
    ok_ = ok_ && row.name != kNoText && row.alias != kNoText;
    return row;
  }

  ByteCursor in_;
  const SymbolLimits& limits_;
  bool ok_ = true;
  std::size_t texts_ = 0;
};

}  // namespace

std::vector<std::byte> encode_names(const FoundNames& found) {
  const Names& names = found.names;
  ByteWriter out;
  for_each_loss(found.losses, [&out](std::uint64_t count) { out.write_varint(count); });
  out.write_varint(names.texts.size());
  for (std::size_t i = 0; i < names.texts.size(); ++i) {
    const std::string_view text = names.texts[static_cast<std::uint32_t>(i)];
    out.write_varint(text.size());
    out.write_text(text);
  }
  write_rows(out, names.functions);
  write_rows(out, names.inlined);
  write_rows(out, names.lines);
  if (!names.aliases.empty()) {
    write_rows(out, names.aliases);
  }
  return out.take();
}

Result<FoundNames> decode_names(std::span<const std::byte> bytes, const SymbolLimits& limits) {
  return AnswerReader(bytes, limits).read();
}

}  // namespace stackpack::symbolize
