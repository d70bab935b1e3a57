#include "codec/zip_writer.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "codec/zip_archive.h"
#include "support/test_bytes.h"

using namespace stackpack;
using codec::ZipArchive;
using codec::ZipWriter;

namespace {

std::vector<std::byte> zip_of(const std::vector<std::pair<std::string, std::string>>& members) {
  std::vector<std::byte> archive;
  ZipWriter zip([&archive](std::span<const std::byte> bytes) {
    archive.insert(archive.end(), bytes.begin(), bytes.end());
    return Status();
  });
  for (const auto& [name, content] : members) {
    REQUIRE(zip.add(name, std::as_bytes(std::span(content))).has_value());
  }
  REQUIRE(zip.finish().has_value());
  return archive;
}

}  // namespace

TEST_SUITE("zip writer") {
  TEST_CASE("what is written is read back, member by member") {
    const std::vector<std::byte> archive = zip_of({{"a", "first"}, {"b/c", ""}, {"d", "x"}});
    const auto source = io::source_of_memory(archive);
    const auto zip = ZipArchive::open(*source);
    REQUIRE(zip.has_value());
    REQUIRE((*zip)->members().size() == 3);
    CHECK((*zip)->members()[1].name == "b/c");
    CHECK((*zip)->members()[0].size == 5);
    const auto first = (*zip)->read_head(0, 100);
    REQUIRE(first.has_value());
    CHECK(std::string(bytes::ByteCursor(*first, 0).read_c_string()) == "first");
    CHECK((*zip)->extract(2, ".", 10).has_value());  // looks at the checksum
    CHECK(archive == zip_of({{"a", "first"}, {"b/c", ""}, {"d", "x"}}));
  }

  TEST_CASE("an archive without members is one") {
    const std::vector<std::byte> archive = zip_of({});
    CHECK(archive.size() == 22);
    const auto source = io::source_of_memory(archive);
    CHECK(ZipArchive::open(*source).has_value());
  }

  TEST_CASE("an error of what takes the bytes is passed on") {
    ZipWriter zip([](std::span<const std::byte>) {
      return Status(Error{ErrorCode::kIo, kNoOffset, "full"});
    });
    CHECK(zip.add("a", {}).error().what == "full");
  }
}
