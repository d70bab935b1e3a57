#include "unwind/elf_layout.h"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <zlib.h>

#include "support/test_bytes.h"

using namespace stackpack;

namespace {

struct TestSection {
  std::string name;
  std::uint64_t address = 0;
  std::vector<std::byte> bytes;
  std::uint64_t flags = 0;
};

// An ELF file of 64 bits: header, two executable segments, sections, names, table of sections.
std::vector<std::byte> elf_file(const std::vector<TestSection>& sections,
                                std::uint16_t machine = 62) {
  constexpr std::uint64_t kHeads = 64 + 2 * 56;
  test::TestBytes content;
  test::TestBytes names;
  names.u8(0);
  test::TestBytes table;
  table.zeros(64);
  for (const TestSection& section : sections) {
    table.u32(static_cast<std::uint32_t>(names.bytes.size())).u32(1).u64(section.flags);
    table.u64(section.address).u64(kHeads + content.bytes.size()).u64(section.bytes.size());
    table.u32(0).u32(0).u64(1).u64(0);
    content.append(section.bytes);
    names.text(section.name).u8(0);
  }
  table.u32(static_cast<std::uint32_t>(names.bytes.size())).u32(3).u64(0).u64(0);
  names.text(".shstrtab").u8(0);
  table.u64(kHeads + content.bytes.size()).u64(names.bytes.size()).u32(0).u32(0).u64(1).u64(0);
  content.append(names.bytes);
  test::TestBytes file;
  file.u32(0x464C'457F).u8(2).u8(1).u8(1).zeros(9).u16(3).u16(machine).u32(1).u64(0x4321);
  file.u64(64).u64(kHeads + content.bytes.size()).u32(0).u16(64).u16(56).u16(2).u16(64);
  file.u16(static_cast<std::uint16_t>(sections.size() + 2));
  file.u16(static_cast<std::uint16_t>(sections.size() + 1));
  // Two segments that share a page of the file.
  file.u32(1).u32(5).u64(0x100).u64(0x40'0100).u64(0).u64(0x1000).u64(0x1000).u64(0);
  file.u32(1).u32(5).u64(0x1100).u64(0x50'2100).u64(0).u64(0x800).u64(0x800).u64(0);
  return file.append(content.bytes).append(table.bytes).bytes;
}

std::vector<std::byte> some_bytes(std::size_t size) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < size; ++i) {
    bytes.push_back(static_cast<std::byte>(i * 7 % 50));
  }
  return bytes;
}

std::vector<std::byte> zlib_stream(const std::vector<std::byte>& content) {
  uLongf size = compressBound(static_cast<uLong>(content.size()));
  std::vector<std::byte> stream(size);
  REQUIRE(compress(static_cast<Bytef*>(static_cast<void*>(stream.data())), &size,
                   static_cast<const Bytef*>(static_cast<const void*>(content.data())),
                   static_cast<uLong>(content.size())) == Z_OK);
  stream.resize(size);
  return stream;
}

Result<unwind::ElfLayout> read(const std::vector<std::byte>& bytes) {
  const auto file = io::source_of_memory(bytes);
  return unwind::read_elf_layout(*file);
}

}  // namespace

TEST_SUITE("unwind elf") {
  TEST_CASE("elf layout: sections and the addresses of code") {
    const auto bytes = elf_file({{".eh_frame", 0x7000, some_bytes(100)},
                                 {".eh_frame_hdr", 0x8000, some_bytes(20)},
                                 {".text", 0x40'0100, some_bytes(10)}});
    const auto layout = read(bytes);
    REQUIRE(layout);
    CHECK(layout->machine == unwind::Machine::kX64);
    CHECK(layout->entry == 0x4321);
    CHECK(layout->eh_frame.bytes == some_bytes(100));
    CHECK(layout->eh_frame.address == 0x7000);
    CHECK(layout->eh_frame_header.bytes == some_bytes(20));
    CHECK(layout->debug_frame.bytes.empty());
    CHECK(layout->address_of(0x10FF) == 0x40'10FF);
    CHECK(layout->address_of(0x1100) == 0x50'2100);
    CHECK(layout->address_of(0xFF) == std::nullopt);
    CHECK(layout->address_of(0x1900) == std::nullopt);
  }

  TEST_CASE("elf layout: compressed sections, in both ways") {
    const std::vector<std::byte> content = some_bytes(5000);
    test::TestBytes newer;
    newer.u32(1).u32(0).u64(content.size()).u64(1).append(zlib_stream(content));
    test::TestBytes older;
    older.text("ZLIB").zeros(6).u8(5000 >> 8).u8(5000 & 0xFF).append(zlib_stream(content));
    const auto a = read(elf_file({{".debug_frame", 0, newer.bytes, 0x800}}));
    const auto b = read(elf_file({{".zdebug_frame", 0, older.bytes}}));
    REQUIRE(a);
    REQUIRE(b);
    CHECK(a->debug_frame.bytes == content);
    CHECK(b->debug_frame.bytes == content);
    // A size that is not the content's, and a stream that is cut.
    newer.bytes[8] = std::byte{0x89};
    older.bytes.resize(older.bytes.size() - 5);
    const auto c = read(elf_file({{".debug_frame", 0, newer.bytes, 0x800}}));
    const auto d = read(elf_file({{".zdebug_frame", 0, older.bytes}}));
    REQUIRE(c);
    REQUIRE(d);
    CHECK(c->left_out);
    CHECK(c->debug_frame.bytes.empty());
    CHECK(d->left_out);
  }

  TEST_CASE("elf layout: other files are refused") {
    CHECK_FALSE(read({}).has_value());
    CHECK_FALSE(read(some_bytes(200)).has_value());
    CHECK_FALSE(read(elf_file({}, 8)).has_value());
    CHECK(read(elf_file({}, 183)).has_value());
  }

  TEST_CASE("elf layout: whatever is cut or changed, nothing outside is read") {
    const auto good = elf_file({{".eh_frame", 0x7000, some_bytes(10)}});
    for (std::size_t size = 0; size < good.size(); ++size) {
      static_cast<void>(read({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}));
    }
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (const unsigned value : {0U, 1U, 0x7FU, 0x80U, 0xFFU}) {
        auto bytes = good;
        bytes[at] = static_cast<std::byte>(value);
        static_cast<void>(read(bytes));
      }
    }
  }
}
