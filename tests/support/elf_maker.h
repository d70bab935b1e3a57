// Small ELF files for tests, section by section.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

#include "support/test_bytes.h"

namespace stackpack::test {

struct ElfMakerSection {
  std::string name;
  std::uint32_t type = SHT_PROGBITS;
  std::uint64_t flags = 0;
  std::vector<std::byte> bytes;
  std::uint64_t address = 0;
  std::uint32_t link = 0;  ///< number of another section, from 1 on
};

/// Parts of a little-endian file of 64 bits.
class ElfMaker {
 public:
  std::vector<ElfMakerSection> sections;

  ElfMaker& add(std::string name, std::uint32_t type, std::uint64_t flags, TestBytes content) {
    sections.push_back({std::move(name), type, flags, std::move(content.bytes), 0, 0});
    return *this;
  }
  ElfMaker& add_build_id(std::span<const std::uint8_t> id) {
    TestBytes note;
    note.u32(4).u32(static_cast<std::uint32_t>(id.size())).u32(NT_GNU_BUILD_ID);
    note.text(std::string_view("GNU\0", 4)).append(std::as_bytes(id)).pad_to(4);
    return add(".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, std::move(note));
  }
  ElfMaker& add_code() {
    return add(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TestBytes().zeros(16));
  }
  ElfMaker& add_symbols() { return add(".symtab", SHT_SYMTAB, 0, TestBytes().zeros(24)); }
  ElfMaker& add_debug_link(std::string_view name, std::uint32_t crc) {
    return add(".gnu_debuglink", SHT_PROGBITS, 0, TestBytes().text(name).u8(0).pad_to(4).u32(crc));
  }
  ElfMaker& add_alternate_link(std::string_view path, std::span<const std::uint8_t> id) {
    return add(".gnu_debugaltlink", SHT_PROGBITS, 0,
               TestBytes().text(path).u8(0).append(std::as_bytes(id)));
  }

  [[nodiscard]] std::vector<std::byte> file() const {
    constexpr std::uint16_t kHeaderBytes = 64;
    TestBytes names;
    names.u8(0);
    TestBytes content;
    TestBytes table;
    table.zeros(kHeaderBytes);
    const auto add_header = [&](const ElfMakerSection& section) {
      table.u32(static_cast<std::uint32_t>(names.bytes.size())).u32(section.type);
      table.u64(section.flags).u64(section.address).u64(kHeaderBytes + content.bytes.size());
      names.text(section.name).u8(0);
    };
    for (const ElfMakerSection& section : sections) {
      content.pad_to(8);
      add_header(section);
      table.u64(section.bytes.size()).u32(section.link).u32(0).u64(8).u64(0);
      content.append(section.bytes);
    }
    content.pad_to(8);
    add_header({".shstrtab", SHT_STRTAB, 0, {}, 0, 0});
    table.u64(names.bytes.size()).zeros(8).u64(1).u64(0);
    content.append(names.bytes).pad_to(8);
    TestBytes out;
    out.u32(0x464C'457F).u32(0x0001'0102).u64(0);
    out.u16(ET_DYN).u16(EM_X86_64).u32(1).u64(0).u64(0).u64(kHeaderBytes + content.bytes.size());
    out.u32(0).u16(kHeaderBytes).u16(56).u16(0).u16(64);
    out.u16(static_cast<std::uint16_t>(sections.size() + 2));
    out.u16(static_cast<std::uint16_t>(sections.size() + 1));
    return out.append(content.bytes).append(table.bytes).bytes;
  }
};

}  // namespace stackpack::test
