// Writes small PDBs: the container, the tables, and records of symbols, lines and types.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/test_bytes.h"

namespace stackpack::test {

struct PdbContribution {
  std::uint16_t section = 1;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

struct PdbObject {
  TestBytes symbols;  ///< records only
  TestBytes lines;    ///< subsections
};

struct PdbRecipe {
  std::uint32_t block_size = 512;
  std::uint32_t info_age = 3;
  std::uint32_t dbi_age = 1;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sections = {{0x1000, 0x1000}};  // size, RVA
  std::vector<PdbContribution> contributions;
  std::vector<PdbObject> objects;
  TestBytes public_symbols;
  TestBytes types;
  TestBytes items;
  std::string file_names = std::string(1, '\0');
  /// Where code was moved to, from the image's RVAs; empty: nothing was moved.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> moves;
};

inline void put_record(TestBytes& out, std::uint16_t kind, const TestBytes& body) {
  TestBytes padded = body;
  while ((padded.bytes.size() + 2) % 4 != 2) {
    padded.u8(0);
  }
  out.u16(static_cast<std::uint16_t>(padded.bytes.size() + 2)).u16(kind).append(padded.bytes);
}

inline void put_procedure(TestBytes& out, std::uint32_t offset, std::uint32_t size,
                          std::string_view name, std::uint16_t kind = 0x1110) {
  TestBytes body;
  body.u32(0).u32(0).u32(0).u32(size).u32(0).u32(0).u32(0).u32(offset).u16(1).u8(0).text(name);
  put_record(out, kind, body.u8(0));
}

inline void put_thunk(TestBytes& out, std::uint32_t offset, std::uint16_t size,
                      std::string_view name) {
  TestBytes body;
  body.u32(0).u32(0).u32(0).u32(offset).u16(1).u16(size).u8(0).text(name);
  put_record(out, 0x1102, body.u8(0));
}

inline void put_separated_code(TestBytes& out, std::uint32_t offset, std::uint32_t size,
                               std::uint32_t parent_offset) {
  TestBytes body;
  body.u32(0).u32(0).u32(size).u32(0).u32(offset).u32(parent_offset).u16(1).u16(1);
  put_record(out, 0x1132, body);
}

inline void put_public(TestBytes& out, std::uint32_t offset, std::string_view name,
                       std::uint32_t flags = 2) {
  TestBytes body;
  put_record(out, 0x110E, body.u32(flags).u32(offset).u16(1).text(name).u8(0));
}

inline void put_inline_site(TestBytes& out, std::uint32_t inlinee,
                            const std::vector<std::uint8_t>& annotations) {
  TestBytes body;
  body.u32(0).u32(0).u32(inlinee);
  for (const std::uint8_t byte : annotations) {
    body.u8(byte);
  }
  put_record(out, 0x114D, body);
}

/// kEnd 6, end of an inlined call 0x114E, end of a procedure 0x114F.
inline void put_end(TestBytes& out, std::uint16_t kind) {
  put_record(out, kind, TestBytes());
}

inline void put_subsection(TestBytes& out, std::uint32_t kind, const TestBytes& body) {
  out.u32(kind).u32(static_cast<std::uint32_t>(body.bytes.size())).append(body.bytes).pad_to(4);
}

/// Files by the offsets of their names; each is 8 bytes further for lines that refer to it.
inline void put_files(TestBytes& out, const std::vector<std::uint32_t>& name_offsets) {
  TestBytes body;
  for (const std::uint32_t offset : name_offsets) {
    body.u32(offset).u8(0).u8(0).u16(0);
  }
  put_subsection(out, 0xF4, body);
}

/// Lines of one run of code, of one file: pairs of offset and line.
inline void put_lines(TestBytes& out, std::uint32_t offset, std::uint32_t size, std::uint32_t file,
                      const std::vector<std::pair<std::uint32_t, std::uint32_t>>& lines) {
  TestBytes body;
  body.u32(offset).u16(1).u16(0).u32(size);
  const auto count = static_cast<std::uint32_t>(lines.size());
  body.u32(file).u32(count).u32(12 + 8 * count);
  for (const auto& [at, line] : lines) {
    body.u32(at).u32(line | 0x8000'0000U);
  }
  put_subsection(out, 0xF2, body);
}

namespace pdb_maker {

inline TestBytes info_stream(const PdbRecipe& recipe, std::uint32_t names_stream) {
  TestBytes out;
  out.u32(20000404).u32(0).u32(recipe.info_age);
  for (std::uint8_t i = 0; i < 16; ++i) {
    out.u8(i);
  }
  out.u32(7).text("/names").u8(0);
  out.u32(1).u32(1).u32(1).u32(1).u32(0).u32(0).u32(names_stream);
  return out;
}

inline TestBytes record_stream(const TestBytes& records) {
  TestBytes out;
  out.u32(20040203).u32(56).u32(0x1000).u32(0x1001);
  out.u32(static_cast<std::uint32_t>(records.bytes.size())).zeros(36);
  return out.append(records.bytes);
}

inline TestBytes section_stream(const PdbRecipe& recipe) {
  TestBytes out;
  for (const auto& [size, rva] : recipe.sections) {
    out.text(".text").zeros(3).u32(size).u32(rva).zeros(24);
  }
  return out;
}

inline TestBytes dbi_stream(const PdbRecipe& recipe, std::uint16_t symbols, std::uint16_t sections,
                            std::uint16_t first_object, std::uint16_t moves) {
  TestBytes objects;
  for (std::size_t i = 0; i < recipe.objects.size(); ++i) {
    const PdbObject& object = recipe.objects[i];
    objects.zeros(34).u16(static_cast<std::uint16_t>(first_object + i));
    objects.u32(static_cast<std::uint32_t>(4 + object.symbols.bytes.size())).u32(0);
    objects.u32(static_cast<std::uint32_t>(object.lines.bytes.size())).zeros(16);
    objects.text("a.obj").u8(0).text("a.lib").u8(0).pad_to(4);
  }
  TestBytes contributions;
  contributions.u32(0xF12EBA2D);
  for (const PdbContribution& row : recipe.contributions) {
    contributions.u16(row.section).u16(0).u32(row.offset).u32(row.size).zeros(16);
  }
  TestBytes debug;
  for (std::uint16_t place = 0; place < 11; ++place) {
    const bool moved = !recipe.moves.empty();
    const bool present = place == 5 || (moved && (place == 3 || place == 4 || place == 10));
    const std::uint16_t stream = place == 3 || place == 4 ? moves : sections;
    debug.u16(present ? stream : 0xFFFF);
  }
  TestBytes out;
  out.u32(0xFFFFFFFF).u32(19990903).u32(recipe.dbi_age);
  out.u16(0xFFFF).u16(0).u16(0xFFFF).u16(0).u16(symbols).u16(0);
  out.u32(static_cast<std::uint32_t>(objects.bytes.size()));
  out.u32(static_cast<std::uint32_t>(contributions.bytes.size())).u32(0).u32(0).u32(0).u32(0);
  out.u32(static_cast<std::uint32_t>(debug.bytes.size())).u32(0).u16(0).u16(0x8664).u32(0);
  return out.append(objects.bytes).append(contributions.bytes).append(debug.bytes);
}

// The streams' blocks go last to first, so that no two of one stream follow each other.
inline std::vector<std::byte> container(const std::vector<TestBytes>& streams,
                                        std::uint32_t block_size) {
  const auto blocks_for = [&](std::size_t size) {
    return static_cast<std::uint32_t>((size + block_size - 1) / block_size);
  };
  TestBytes directory;
  directory.u32(static_cast<std::uint32_t>(streams.size()));
  std::uint32_t stream_blocks = 0;
  for (const TestBytes& stream : streams) {
    directory.u32(static_cast<std::uint32_t>(stream.bytes.size()));
    stream_blocks += blocks_for(stream.bytes.size());
  }
  const std::uint32_t directory_blocks =
      blocks_for(directory.bytes.size() + std::size_t{4} * stream_blocks);
  const std::uint32_t first_directory = 4;
  const std::uint32_t first = first_directory + directory_blocks;
  const std::uint32_t count = first + stream_blocks;
  std::vector<std::byte> file(std::size_t{count} * block_size);
  const auto put_at = [&](std::uint32_t block, const std::byte* from, std::size_t size) {
    std::copy_n(from, size, file.begin() + static_cast<std::ptrdiff_t>(block * block_size));
  };
  std::uint32_t next = count;
  for (const TestBytes& stream : streams) {
    for (std::size_t at = 0; at < stream.bytes.size(); at += block_size) {
      directory.u32(--next);
      put_at(next, stream.bytes.data() + at,
             std::min<std::size_t>(block_size, stream.bytes.size() - at));
    }
  }
  TestBytes map;
  for (std::uint32_t i = 0; i < directory_blocks; ++i) {
    map.u32(first_directory + i);
  }
  const auto directory_size = static_cast<std::uint32_t>(directory.bytes.size());
  put_at(first_directory, directory.bytes.data(), directory.bytes.size());
  put_at(3, map.bytes.data(), map.bytes.size());
  TestBytes head;
  head.text("Microsoft C/C++ MSF 7.00\r\n\x1A").text("DS").zeros(3);
  head.u32(block_size).u32(1).u32(count).u32(directory_size).u32(0).u32(3);
  put_at(0, head.bytes.data(), head.bytes.size());
  return file;
}

}  // namespace pdb_maker

/// The GUID of all of them.
inline std::array<std::uint8_t, 16> pdb_guid() {
  std::array<std::uint8_t, 16> guid{};
  for (std::uint8_t i = 0; i < 16; ++i) {
    guid[i] = i;
  }
  return guid;
}

inline std::vector<std::byte> pdb_bytes(const PdbRecipe& recipe) {
  constexpr std::uint16_t kNames = 5;
  constexpr std::uint16_t kSymbols = 6;
  constexpr std::uint16_t kSections = 7;
  constexpr std::uint16_t kMoves = 8;
  constexpr std::uint16_t kFirstObject = 9;
  TestBytes names;
  names.u32(0xEFFEEFFE).u32(1).u32(static_cast<std::uint32_t>(recipe.file_names.size()));
  names.text(recipe.file_names);
  TestBytes moves;
  for (const auto& [from, to] : recipe.moves) {
    moves.u32(from).u32(to);
  }
  std::vector<TestBytes> streams = {
      TestBytes(),
      pdb_maker::info_stream(recipe, kNames),
      pdb_maker::record_stream(recipe.types),
      pdb_maker::dbi_stream(recipe, kSymbols, kSections, kFirstObject, kMoves),
      pdb_maker::record_stream(recipe.items),
      names,
      recipe.public_symbols,
      pdb_maker::section_stream(recipe),
      moves};
  for (const PdbObject& object : recipe.objects) {
    TestBytes stream;
    stream.u32(4).append(object.symbols.bytes).append(object.lines.bytes);
    streams.push_back(stream);
  }
  return pdb_maker::container(streams, recipe.block_size);
}

/// main at 0x1010, 0x60 bytes, of which [0x10, 0x30) is Box::outer, and [0x18, 0x20) in it is
/// inner.
inline PdbRecipe pdb_with_inlines() {
  PdbRecipe recipe;
  recipe.contributions = {{1, 0x10, 0x90}};
  recipe.file_names = std::string("\0a.cc\0b.h\0", 10);
  recipe.objects.resize(1);
  TestBytes& symbols = recipe.objects[0].symbols;
  put_procedure(symbols, 0x10, 0x60, "main", 0x1147);
  // Line 22 at 0x10; line 23 at 0x18; line 24 from 0x20 on, 0x10 bytes.
  put_inline_site(symbols, 0x1001, {6, 4, 3, 0x10, 11, 0x28, 11, 0x28, 4, 0x10});
  put_inline_site(symbols, 0x1000, {12, 8, 0x18});
  put_end(symbols, 0x114E);
  put_end(symbols, 0x114E);
  put_end(symbols, 0x114F);
  TestBytes& lines = recipe.objects[0].lines;
  put_files(lines, {1, 6});
  put_lines(lines, 0x10, 0x60, 0, {{0, 5}, {0x10, 6}, {0x30, 0xFEEFEE}, {0x38, 8}});
  TestBytes written;
  written.u32(0).u32(0x1000).u32(8).u32(30).u32(0x1001).u32(8).u32(20);
  put_subsection(lines, 0xF6, written);
  TestBytes body;
  put_record(recipe.items, 0x1601, body.u32(0).u32(0).text("inner").u8(0));
  body = TestBytes();
  put_record(recipe.items, 0x1602, body.u32(0x1000).u32(0).text("outer").u8(0));
  body = TestBytes();
  put_record(recipe.types, 0x1504, body.zeros(16).u16(8).text("Box").u8(0));
  return recipe;
}

}  // namespace stackpack::test
