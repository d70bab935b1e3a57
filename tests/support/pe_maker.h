// Writes small PE files: headers, a debug directory, a table of functions, exports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "support/test_bytes.h"

namespace stackpack::test {

inline constexpr std::uint32_t kPeSectionRva = 0x1000;
inline constexpr std::uint32_t kPeSectionFile = 0x400;

/// Three functions of the table, of which two are exported, one twice, and a forwarder.
struct PeRecipe {
  std::uint16_t machine = 0x8664;
  bool wide = true;
  std::uint32_t export_size = 0x200;
};

inline void put_zero_ended(TestBytes& out, std::size_t at, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    out.bytes[at + i] = static_cast<std::byte>(text[i]);
  }
}

/// RVAs of functions: first 0x2000, one without a name 0x2040, third 0x2080; names a.pdb, age 10.
inline std::vector<std::byte> pe_file(const PeRecipe& recipe) {
  TestBytes out;
  out.u16(0x5A4D).zeros(58).u32(0x80).zeros(0x40);
  out.u32(0x4550).u16(recipe.machine).u16(1).u32(0x5F00'1234).zeros(8);
  const std::size_t optional_size = (recipe.wide ? 112 : 96) + 16 * 8;
  out.u16(static_cast<std::uint16_t>(optional_size)).u16(0);
  const std::size_t optional = out.bytes.size();
  out.u16(recipe.wide ? 0x20B : 0x10B).zeros(54).u32(0xB000);
  out.zeros((recipe.wide ? 108U : 92U) - 60).u32(16);
  out.u32(kPeSectionRva + 0x200).u32(recipe.export_size);  // exports
  out.zeros(16).u32(kPeSectionRva).u32(36);                // table of functions
  out.zeros(16).u32(kPeSectionRva + 0x100).u32(56);        // debug directory
  out.zeros(optional + optional_size - out.bytes.size());
  out.text(".text")
      .zeros(3)
      .u32(0x1000)
      .u32(kPeSectionRva)
      .u32(0x800)
      .u32(kPeSectionFile)
      .zeros(16);
  out.zeros(kPeSectionFile - out.bytes.size());
  // The table of functions.
  for (const std::uint32_t begin : {0x2000U, 0x2040U, 0x2080U}) {
    out.u32(begin).u32(begin + 0x20).u32(0);
  }
  out.zeros(kPeSectionFile + 0x100 - out.bytes.size());
  // Debug directory: something else, then CodeView.
  out.u32(0).u32(0).u32(0).u32(13).u32(0).u32(0).u32(0);
  out.u32(0).u32(0).u32(0).u32(2).u32(40).u32(0).u32(kPeSectionFile + 0x180);
  out.zeros(kPeSectionFile + 0x180 - out.bytes.size());
  out.text("RSDS");
  for (std::uint8_t i = 0; i < 16; ++i) {
    out.u8(i);
  }
  out.u32(10).text("C:\\build\\a.pdb").u8(0);
  out.zeros(kPeSectionFile + 0x200 - out.bytes.size());
  // Exports: directory, four functions, four names, their ordinals, the texts.
  out.zeros(20).u32(4).u32(4).u32(0x1228).u32(0x1238).u32(0x1248);
  out.u32(0x2000).u32(0x2080).u32(0x12F0).u32(0x3000);
  out.u32(0x1280).u32(0x1290).u32(0x12A0).u32(0x12B0);
  out.u16(0).u16(0).u16(1).u16(2);
  out.zeros(kPeSectionFile + 0x800 - out.bytes.size());
  put_zero_ended(out, kPeSectionFile + 0x280, "first_longer");
  put_zero_ended(out, kPeSectionFile + 0x290, "first");
  put_zero_ended(out, kPeSectionFile + 0x2A0, "third");
  put_zero_ended(out, kPeSectionFile + 0x2B0, "forwarded");
  put_zero_ended(out, kPeSectionFile + 0x2F0, "NTDLL.Rtl");
  return out.bytes;
}

}  // namespace stackpack::test
