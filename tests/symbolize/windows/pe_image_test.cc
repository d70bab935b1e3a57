#include "symbolize/windows/pe_image.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/pdb_maker.h"
#include "support/test_bytes.h"
#include "symbolize/maps/named_rows.h"

namespace stackpack::symbolize {

namespace {

constexpr std::uint32_t kSectionRva = 0x1000;
constexpr std::uint32_t kSectionFile = 0x400;

// Three functions of the table, of which two are exported, one twice, and a forwarder.
struct PeRecipe {
  std::uint16_t machine = 0x8664;
  bool wide = true;
  std::uint32_t export_size = 0x200;
};

void put_zero_ended(test::TestBytes& out, std::size_t at, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    out.bytes[at + i] = static_cast<std::byte>(text[i]);
  }
}

std::vector<std::byte> pe_file(const PeRecipe& recipe) {
  test::TestBytes out;
  out.u16(0x5A4D).zeros(58).u32(0x80).zeros(0x40);
  out.u32(0x4550).u16(recipe.machine).u16(1).u32(0x5F00'1234).zeros(8);
  const std::size_t optional_size = (recipe.wide ? 112 : 96) + 16 * 8;
  out.u16(static_cast<std::uint16_t>(optional_size)).u16(0);
  const std::size_t optional = out.bytes.size();
  out.u16(recipe.wide ? 0x20B : 0x10B).zeros(54).u32(0xB000);
  out.zeros((recipe.wide ? 108U : 92U) - 60).u32(16);
  out.u32(kSectionRva + 0x200).u32(recipe.export_size);  // exports
  out.zeros(16).u32(kSectionRva).u32(36);                // table of functions
  out.zeros(16).u32(kSectionRva + 0x100).u32(56);        // debug directory
  out.zeros(optional + optional_size - out.bytes.size());
  out.text(".text").zeros(3).u32(0x1000).u32(kSectionRva).u32(0x800).u32(kSectionFile).zeros(16);
  out.zeros(kSectionFile - out.bytes.size());
  // The table of functions.
  for (const std::uint32_t begin : {0x2000U, 0x2040U, 0x2080U}) {
    out.u32(begin).u32(begin + 0x20).u32(0);
  }
  out.zeros(kSectionFile + 0x100 - out.bytes.size());
  // Debug directory: something else, then CodeView.
  out.u32(0).u32(0).u32(0).u32(13).u32(0).u32(0).u32(0);
  out.u32(0).u32(0).u32(0).u32(2).u32(40).u32(0).u32(kSectionFile + 0x180);
  out.zeros(kSectionFile + 0x180 - out.bytes.size());
  out.text("RSDS");
  for (std::uint8_t i = 0; i < 16; ++i) {
    out.u8(i);
  }
  out.u32(10).text("C:\\build\\a.pdb").u8(0);
  out.zeros(kSectionFile + 0x200 - out.bytes.size());
  // Exports: directory, four functions, four names, their ordinals, the texts.
  out.zeros(20).u32(4).u32(4).u32(0x1228).u32(0x1238).u32(0x1248);
  out.u32(0x2000).u32(0x2080).u32(0x12F0).u32(0x3000);
  out.u32(0x1280).u32(0x1290).u32(0x12A0).u32(0x12B0);
  out.u16(0).u16(0).u16(1).u16(2);
  out.zeros(kSectionFile + 0x800 - out.bytes.size());
  put_zero_ended(out, kSectionFile + 0x280, "first_longer");
  put_zero_ended(out, kSectionFile + 0x290, "first");
  put_zero_ended(out, kSectionFile + 0x2A0, "third");
  put_zero_ended(out, kSectionFile + 0x2B0, "forwarded");
  put_zero_ended(out, kSectionFile + 0x2F0, "NTDLL.Rtl");
  return out.bytes;
}

std::string export_names(const std::vector<std::byte>& file,
                         const std::vector<std::uint64_t>& addresses) {
  const auto source = io::source_of_memory(file);
  const Result<PeImage> image = read_pe_image(*source);
  if (!image) {
    return message(image.error());
  }
  SymbolRequest request;
  request.addresses = addresses;
  NameCollector names;
  if (const Status read = read_pe_exports(*source, *image, request, names); !read) {
    return message(read.error());
  }
  return test::rows_text(std::move(names));
}

}  // namespace

TEST_CASE("PE: what an image says of itself, with 32 and 64 bits") {
  for (const bool wide : {false, true}) {
    CAPTURE(wide);
    const std::vector<std::byte> file = pe_file({0x8664, wide, 0x200});
    const auto source = io::source_of_memory(file);
    const Result<PeImage> image = read_pe_image(*source);
    REQUIRE(image.has_value());
    CHECK(image->timestamp == 0x5F00'1234);
    CHECK(image->image_size == 0xB000);
    REQUIRE(image->pdbs.size() == 1);
    CHECK(image->pdbs[0].identity == PdbIdentity{test::pdb_guid(), 10});
    CHECK(image->pdbs[0].path == "C:\\build\\a.pdb");
  }
}

TEST_CASE("PE: an exported function is as long as the table of functions says") {
  const std::vector<std::byte> file = pe_file({});
  CHECK(export_names(file, {0x1FFF, 0x2000, 0x201F, 0x2020, 0x2050, 0x209F, 0x20A0, 0x3000}) ==
        "2000+20 first, 2080+20 third");
  CHECK(export_names(file, {0x12F0}).empty());
}

TEST_CASE("PE: exports without a table of functions name nothing") {
  const std::string reason = export_names(pe_file({0x14C, false, 0x200}), {0x2000});
  CHECK(reason.find("table of functions") != std::string::npos);
  CHECK(export_names(pe_file({0x14C, false, 0}), {0x2000}).empty());
}

TEST_CASE("PE: whatever byte is wrong, and wherever it ends, reading ends well") {
  const std::vector<std::byte> good = pe_file({});
  const std::vector<std::uint64_t> addresses = {0x1000, 0x2000, 0x2080};
  for (std::size_t size = 0; size < good.size(); size += 3) {
    export_names({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}, addresses);
  }
  std::size_t named = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const unsigned value : {0x00U, 0x7FU, 0xFFU}) {
      std::vector<std::byte> bad = good;
      bad[at] = static_cast<std::byte>(value);
      named += export_names(bad, addresses).find("third") != std::string::npos ? 1U : 0U;
    }
  }
  CHECK(named > good.size());
  CHECK(export_names({std::byte{'M'}, std::byte{'Z'}}, {}).find("pe:") != std::string::npos);
}

}  // namespace stackpack::symbolize
