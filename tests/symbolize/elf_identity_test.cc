#include "symbolize/elf_identity.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <elf.h>

#include "support/own_code.h"
#include "support/test_bytes.h"

namespace stackpack::symbolize {

namespace {

using bytes::ByteOrder;
using test::TestBytes;

struct SmallElf {
  bool wide = true;
  ByteOrder order = ByteOrder::kLittle;

  void word(TestBytes& out, std::uint64_t value) const {
    if (wide) {
      out.u64(value);
    } else {
      out.u32(static_cast<std::uint32_t>(value));
    }
  }

  void segment(TestBytes& out, std::uint32_t type, std::uint32_t flags, std::uint64_t offset,
               std::uint64_t address, std::uint64_t size) const {
    out.u32(type);
    if (wide) {
      out.u32(flags);
    }
    for (const std::uint64_t value : {offset, address, address, size, size}) {
      word(out, value);
    }
    if (!wide) {
      out.u32(flags);
    }
    word(out, 0x1000);
  }

  void section(TestBytes& out, std::uint32_t name, std::uint32_t type, std::uint64_t flags,
               std::uint64_t offset, std::uint64_t size) const {
    out.u32(name).u32(type);
    word(out, flags);
    word(out, 0);
    word(out, offset);
    word(out, size);
    out.u32(0).u32(0);
    word(out, 4);
    word(out, 0);
  }

  // Two segments that share the first page of the file, a build id, a debug link.
  [[nodiscard]] std::vector<std::byte> file() const {
    TestBytes note(order);
    note.u32(4)
        .u32(5)
        .u32(NT_GNU_BUILD_ID)
        .text(std::string("GNU\0", 4))
        .text("\x01\x02\x03\x04\x05");
    note.pad_to(4);
    TestBytes link(order);
    link.text(std::string("x.debug\0", 8)).u32(0x1234'5678);
    const std::string names("\0.note\0.gnu_debuglink\0.text\0", 28);
    const std::size_t head = wide ? 64 : 52;
    const std::size_t segment_bytes = wide ? 56 : 32;
    const std::size_t section_bytes = wide ? 64 : 40;
    const std::size_t note_at = head + 2 * segment_bytes;
    const std::size_t link_at = note_at + note.bytes.size();
    const std::size_t names_at = link_at + link.bytes.size();
    const std::size_t sections_at = names_at + names.size();
    TestBytes out(order);
    out.text(
           "\x7f"
           "ELF")
        .u8(wide ? 2 : 1)
        .u8(order == ByteOrder::kLittle ? 1 : 2)
        .u8(1)
        .zeros(9);
    out.u16(ET_DYN).u16(EM_PPC).u32(1);
    word(out, 0);
    word(out, head);
    word(out, sections_at);
    out.u32(0).u16(static_cast<std::uint16_t>(head)).u16(static_cast<std::uint16_t>(segment_bytes));
    out.u16(2).u16(static_cast<std::uint16_t>(section_bytes)).u16(5).u16(4);
    segment(out, PT_LOAD, PF_R, 0, 0x10000, 0x700);
    segment(out, PT_LOAD, PF_R | PF_X, 0x6f0, 0x116f0, 0x2000);
    out.append(note.bytes).append(link.bytes).text(names);
    section(out, 0, SHT_NULL, 0, 0, 0);
    section(out, 1, SHT_NOTE, SHF_ALLOC, note_at, note.bytes.size());
    section(out, 7, SHT_PROGBITS, 0, link_at, link.bytes.size());
    section(out, 22, SHT_PROGBITS, SHF_EXECINSTR, 0, 1);
    section(out, 0, SHT_STRTAB, 0, names_at, names.size());
    return out.bytes;
  }
};

}  // namespace

TEST_CASE("elf identity: both classes and byte orders") {
  for (const bool wide : {false, true}) {
    for (const ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
      const std::vector<std::byte> file = SmallElf{wide, order}.file();
      const Result<ElfIdentity> elf = read_elf_identity(*io::source_of_memory(file));
      REQUIRE(elf.has_value());
      CHECK(elf->is_64_bit == wide);
      CHECK(elf->order == order);
      CHECK(elf->type == ET_DYN);
      CHECK(elf->machine == EM_PPC);
      CHECK(elf->build_id == std::vector<std::uint8_t>{1, 2, 3, 4, 5});
      CHECK(elf->debug_link == "x.debug");
      CHECK(elf->debug_link_crc == 0x1234'5678);
      CHECK(elf->has_code);
      REQUIRE(elf->segments.size() == 2);
      // What both segments have in the file belongs to the one that is executed.
      CHECK(elf->address_of(0x6f0) == 0x116f0);
      CHECK(elf->address_of(0x6ff) == 0x116ff);
      CHECK(elf->address_of(0x10) == 0x10010);
      CHECK(!elf->address_of(0x26f0).has_value());
      CHECK(elf->offset_of(0x11700) == 0x700);
      CHECK(!elf->offset_of(0x20000).has_value());
    }
  }
}

TEST_CASE("elf identity: a file that is cut anywhere is read without harm") {
  const std::vector<std::byte> file = SmallElf{}.file();
  for (std::size_t size = 0; size < file.size(); ++size) {
    const std::vector<std::byte> part(file.begin(),
                                      file.begin() + static_cast<std::ptrdiff_t>(size));
    const Result<ElfIdentity> elf = read_elf_identity(*io::source_of_memory(part));
    CHECK(elf.has_value() == (size >= 64));
  }
  CHECK(read_elf_identity(*io::source_of_memory({})).error().code == ErrorCode::kUnsupported);
}

TEST_CASE("elf identity: the checksum of a debug link is that of its section") {
  const std::string text = "123456789";
  const auto source = io::source_of_memory(std::as_bytes(std::span(text)));
  CHECK(debug_link_crc(*source).value() == 0xCBF4'3926);
}

}  // namespace stackpack::symbolize
