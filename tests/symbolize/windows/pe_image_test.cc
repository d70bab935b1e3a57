#include "symbolize/windows/pe_image.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/pdb_maker.h"
#include "support/pe_maker.h"
#include "symbolize/maps/named_rows.h"

namespace stackpack::symbolize {

namespace {

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
    const std::vector<std::byte> file = test::pe_file({0x8664, wide, 0x200});
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
  const std::vector<std::byte> file = test::pe_file({});
  CHECK(export_names(file, {0x1FFF, 0x2000, 0x201F, 0x2020, 0x2050, 0x209F, 0x20A0, 0x3000}) ==
        "2000+20 first, 2080+20 third");
  CHECK(export_names(file, {0x12F0}).empty());
}

TEST_CASE("PE: exports without a table of functions name nothing") {
  const std::string reason = export_names(test::pe_file({0x14C, false, 0x200}), {0x2000});
  CHECK(reason.find("table of functions") != std::string::npos);
  CHECK(export_names(test::pe_file({0x14C, false, 0}), {0x2000}).empty());
}

TEST_CASE("PE: whatever byte is wrong, and wherever it ends, reading ends well") {
  const std::vector<std::byte> good = test::pe_file({});
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
