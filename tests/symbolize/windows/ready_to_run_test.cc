#include "symbolize/windows/ready_to_run.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/pe_maker.h"
#include "support/ready_to_run_maker.h"
#include "symbolize/maps/named_rows.h"

namespace stackpack::symbolize {

namespace {

std::string method_names(const std::vector<std::byte>& file,
                         const std::vector<std::uint64_t>& addresses) {
  const auto source = io::source_of_memory(file);
  const Result<PeImage> image = read_pe_image(*source);
  if (!image) {
    return message(image.error());
  }
  SymbolRequest request;
  request.addresses = addresses;
  NameCollector names;
  if (const Status read = read_precompiled_methods(*source, *image, request, names); !read) {
    return message(read.error());
  }
  return test::rows_text(std::move(names));
}

const std::vector<std::uint64_t> kEverywhere{0x2FFF, 0x3000, 0x3017, 0x3018, 0x3020, 0x3041,
                                             0x305F, 0x3060, 0x3077, 0x3078, 0x4000};

}  // namespace

TEST_CASE("ready to run: a piece of code has the name of the method whose body comes before it") {
  for (const int system : {0, 0x7B79, 0x4644}) {
    const auto machine = static_cast<std::uint16_t>(0x8664 ^ system);
    CAPTURE(machine);
    CHECK(method_names(test::ReadyToRunMaker({machine}).file(), kEverywhere) ==
          "3000+18 Demo.Main.Run, 3020+18 Demo.Main.Run, 3040+18 Demo.Main+Inner.Do, "
          "3060+18 Demo.Box`1.Get");
  }
}

TEST_CASE("ready to run: where no ends are said a piece ends at the next one") {
  CHECK(method_names(test::ReadyToRunMaker({0xAA64}).file(), kEverywhere) ==
        "3000+20 Demo.Main.Run, 3020+20 Demo.Main.Run, 3040+20 Demo.Main+Inner.Do");
}

TEST_CASE("ready to run: where a body may be missing what follows the others has no name") {
  // A pointer to a function in the signature: it is not read to its end.
  CHECK(method_names(test::ReadyToRunMaker({0x8664, true, 0x1B}).file(), kEverywhere) ==
        "3000+18 Demo.Main.Run, 3040+18 Demo.Main+Inner.Do");
}

TEST_CASE("ready to run: other images have no such methods") {
  for (const auto& other : {test::pe_file({}), test::ReadyToRunMaker({0x8664, false}).file()}) {
    const auto source = io::source_of_memory(other);
    const Result<PeImage> image = read_pe_image(*source);
    REQUIRE(image.has_value());
    CHECK(!has_precompiled_methods(*source, *image));
    CHECK(method_names(other, kEverywhere).find("no precompiled methods") != std::string::npos);
  }
  const std::vector<std::byte> file = test::ReadyToRunMaker().file();
  const auto good = io::source_of_memory(file);
  CHECK(has_precompiled_methods(*good, *read_pe_image(*good)));
}

TEST_CASE("ready to run: every cut and every changed byte ends well, and names no other code") {
  const std::vector<std::byte> whole = test::ReadyToRunMaker().file();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string names = method_names(
        {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, kEverywhere);
    CHECK(names.find("4000+") == std::string::npos);
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const unsigned bits : {0x01U, 0x80U, 0xFFU}) {
      std::vector<std::byte> changed = whole;
      changed[at] ^= static_cast<std::byte>(bits);
      method_names(changed, kEverywhere);
    }
  }
}

}  // namespace stackpack::symbolize
