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

// How many rows follow: each has a byte at least.
std::size_t read_count(ByteCursor& in, const SymbolLimits& limits, bool& ok) {
  const std::uint64_t count = in.read_varint();
  ok = ok && in.ok() && count <= in.remaining() && count <= limits.rows;
  return ok ? static_cast<std::size_t>(count) : 0;
}

}  // namespace

std::vector<std::byte> encode_names(const Names& names) {
  ByteWriter out;
  out.write_varint(names.texts.size());
  for (std::size_t i = 0; i < names.texts.size(); ++i) {
    const std::string_view text = names.texts[static_cast<std::uint32_t>(i)];
    out.write_varint(text.size());
    out.write_text(text);
  }
  out.write_varint(names.functions.size());
  for (const Function& row : names.functions) {
    write_range(out, row);
    out.write_varint(row.born_ns + 1);  // unknown: 0
    out.write(static_cast<std::uint8_t>(row.source));
    write_number(out, row.name);
    write_number(out, row.linkage);
    write_number(out, row.file);
    out.write_varint(row.line);
  }
  out.write_varint(names.inlined.size());
  for (const InlinedCall& row : names.inlined) {
    write_number(out, row.parent);
    write_number(out, row.name);
    write_number(out, row.linkage);
    write_number(out, row.call_file);
    out.write_varint(row.call_line);
  }
  out.write_varint(names.lines.size());
  for (const CodeLine& row : names.lines) {
    write_range(out, row);
    write_number(out, row.inlined);
    write_number(out, row.file);
    out.write_varint(row.line);
  }
  return out.take();
}

Result<Names> decode_names(std::span<const std::byte> bytes, const SymbolLimits& limits) {
  ByteCursor in(bytes, 0);
  Names names;
  bool ok = true;
  for (std::size_t left = read_count(in, limits, ok); left > 0 && ok; --left) {
    const std::uint64_t size = in.read_varint();
    ok = ok && in.ok() && size != 0 && size <= limits.name_bytes;
    ByteCursor text(in.read_bytes(ok ? size : 0), 0);
    std::string characters;
    characters.reserve(text.size());
    for (const std::byte byte : text.rest()) {
      characters.push_back(static_cast<char>(byte));
    }
    names.texts.add(characters);
    ok = ok && in.ok();
  }
  const std::size_t texts = names.texts.size();
  for (std::size_t left = read_count(in, limits, ok); left > 0 && ok; --left) {
    Function row;
    read_range(in, row, ok);
    row.born_ns = in.read_varint() - 1;
    const auto source = in.read<std::uint8_t>();
    ok = ok && source < kFunctionSourceCount;
    row.source = static_cast<FunctionSource>(ok ? source : 0);
    row.name = read_number(in, texts, ok);
    row.linkage = read_number(in, texts, ok);
    row.file = read_number(in, texts, ok);
    row.line = read_u32(in, ok);
    ok = ok && in.ok();
    names.functions.push_back(row);
  }
  for (std::size_t left = read_count(in, limits, ok); left > 0 && ok; --left) {
    InlinedCall row;
    row.parent = read_number(in, names.inlined.size(), ok);
    row.name = read_number(in, texts, ok);
    row.linkage = read_number(in, texts, ok);
    row.call_file = read_number(in, texts, ok);
    row.call_line = read_u32(in, ok);
    ok = ok && in.ok();
    names.inlined.push_back(row);
  }
  for (std::size_t left = read_count(in, limits, ok); left > 0 && ok; --left) {
    CodeLine row;
    read_range(in, row, ok);
    row.inlined = read_number(in, names.inlined.size(), ok);
    row.file = read_number(in, texts, ok);
    row.line = read_u32(in, ok);
    ok = ok && in.ok();
    names.lines.push_back(row);
  }
  if (!ok || !in.ok() || in.remaining() != 0) {
    return in.corrupt("symbols: the answer of a reader is damaged");
  }
  return names;
}

}  // namespace stackpack::symbolize
