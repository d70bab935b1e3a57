#include "symbolize/symbol_bundle.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "codec/zip_writer.h"
#include "io/byte_source.h"
#include "symbolize/symbol_files.h"

namespace stackpack::symbolize {

namespace {

using BundleBytes = std::vector<std::byte>;

void put_number(BundleBytes& out, std::uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i) {
    out.push_back(static_cast<std::byte>(i < sizeof value ? value >> (8 * i) : 0));
  }
}

// An ELF file that has a build id and, where `section` has a name, a section of that name.
BundleBytes elf_with_id(const std::vector<std::uint8_t>& id, const std::string& section = "") {
  BundleBytes note;
  put_number(note, 4, 4);
  put_number(note, id.size(), 4);
  put_number(note, 3, 4);
  put_number(note, 0x554E47, 4);  // "GNU"
  for (const std::uint8_t byte : id) {
    note.push_back(static_cast<std::byte>(byte));
  }
  const std::string names = std::string(1, '\0') + section + '\0';
  constexpr std::uint64_t kHeader = 64;
  const std::uint64_t names_at = kHeader + note.size();
  const std::uint64_t sections_at = names_at + names.size();
  BundleBytes elf;
  put_number(elf, 0x00010102464C457F, 8);
  put_number(elf, 0, 8);
  put_number(elf, 3, 2);
  put_number(elf, 62, 2);
  put_number(elf, 1, 4);
  put_number(elf, 0, 8);
  put_number(elf, 0, 8);
  put_number(elf, sections_at, 8);
  put_number(elf, 0, 4);
  for (const unsigned field : {64U, 56U, 0U, 64U, 4U, 2U}) {
    put_number(elf, field, 2);
  }
  elf.insert(elf.end(), note.begin(), note.end());
  for (const char letter : names) {
    elf.push_back(static_cast<std::byte>(letter));
  }
  const auto header = [&elf](unsigned name, unsigned type, std::uint64_t at, std::uint64_t size) {
    put_number(elf, name, 4);
    put_number(elf, type, 4);
    put_number(elf, 0, 16);
    put_number(elf, at, 8);
    put_number(elf, size, 8);
    put_number(elf, 0, 24);
  };
  header(0, 0, 0, 0);
  header(0, 7, kHeader, note.size());
  header(0, 3, names_at, names.size());
  header(1, section.empty() ? 8 : 1, kHeader, 4);
  return elf;
}

std::shared_ptr<SymbolBundle> bundle_of(
    const std::vector<std::pair<std::string, BundleBytes>>& entries, BundleBytes& archive) {
  codec::ZipWriter zip([&archive](std::span<const std::byte> bytes) {
    archive.insert(archive.end(), bytes.begin(), bytes.end());
    return Status();
  });
  for (const auto& [name, content] : entries) {
    REQUIRE(zip.add(name, content).has_value());
  }
  REQUIRE(zip.finish().has_value());
  auto bundle = SymbolBundle::open(io::source_of_memory(archive), "bundle.zip");
  REQUIRE(bundle.has_value());
  return *bundle;
}

const std::vector<std::uint8_t> kId{0xAB, 0x12, 0x34};
const std::vector<std::uint8_t> kOtherId{0xAB, 0x12, 0x35};

}  // namespace

TEST_SUITE("symbol bundle") {
  TEST_CASE("an entry is found by its build id, and its file has its bytes") {
    BundleBytes archive;
    const auto bundle = bundle_of({{bundle_entry_name(kId), elf_with_id(kId)}}, archive);
    CHECK(bundle_entry_name(kId) == ".build-id/ab/1234.debug");
    CHECK(bundle->build_ids() == std::vector<std::vector<std::uint8_t>>{kId});
    const io::Descriptor file = bundle->find(kId);
    REQUIRE(file);
    BundleBytes read(elf_with_id(kId).size());
    const auto source = io::source_of_descriptor(file.get());
    CHECK(source->size() == read.size());
    REQUIRE(io::read_exactly_at(*source, 0, read, "").has_value());
    CHECK(read == elf_with_id(kId));
    CHECK_FALSE(bundle->find(kOtherId));
    CHECK(bundle->refused() == 0);
  }

  TEST_CASE("an entry of another build id than its name is refused, and counted once") {
    BundleBytes archive;
    const auto bundle = bundle_of({{bundle_entry_name(kId), elf_with_id(kOtherId)}}, archive);
    CHECK_FALSE(bundle->find(kId));
    CHECK_FALSE(bundle->find(kId));
    CHECK(bundle->refused() == 1);
    SymbolPlaces places;
    places.bundles = {bundle};
    CHECK(refused_entries(places) == 1);
  }

  TEST_CASE("a refused entry counts as a file of another build; a good one is found") {
    BundleBytes archive;
    const auto bundle = bundle_of({{bundle_entry_name(kId), elf_with_id(kOtherId)},
                                   {bundle_entry_name(kOtherId), elf_with_id(kOtherId)}},
                                  archive);
    SymbolPlaces places;
    places.bundles = {bundle};
    CHECK(find_elf_files({"/no/such/file", kId}, places).end == SearchEnd::kOtherBuildId);
    const FoundFiles found = find_elf_files({"/no/such/file", kOtherId}, places);
    CHECK(found.end == SearchEnd::kFound);
    CHECK(found.image_path == "bundle.zip:.build-id/ab/1235.debug");
    CHECK(find_elf_files({"/no/such/file", {}}, places).end == SearchEnd::kNoBuildId);
  }

  TEST_CASE("an entry with more than tables and symbols is refused") {
    BundleBytes archive;
    const auto bundle =
        bundle_of({{bundle_entry_name(kId), elf_with_id(kId, ".debug_info")},
                   {bundle_entry_name(kOtherId), elf_with_id(kOtherId, ".debug_addr")}},
                  archive);
    CHECK_FALSE(bundle->find(kId));
    CHECK_FALSE(bundle->find(kOtherId));
    CHECK(bundle->refused() == 2);
  }

  TEST_CASE("names that are none of a bundle are no entries, whatever they say") {
    BundleBytes archive;
    const BundleBytes elf = elf_with_id(kId);
    const auto bundle = bundle_of({{"../../etc/passwd", elf},
                                   {"/.build-id/ab/1234.debug", elf},
                                   {".build-id/ab/../1234.debug", elf},
                                   {".build-id/AB/1234.debug", elf},
                                   {".build-id/ab/123.debug", elf},
                                   {".build-id/ab/.debug", elf},
                                   {bundle_entry_name(kOtherId), elf}},
                                  archive);
    CHECK(bundle->entries() == 1);
    CHECK_FALSE(bundle->find(kId));
  }

  TEST_CASE("what is no bundle is refused as a whole") {
    const auto code_of = [](const BundleBytes& bytes) {
      return SymbolBundle::open(io::source_of_memory(bytes), "x").error().code;
    };
    CHECK(code_of(elf_with_id(kId)) == ErrorCode::kUnsupported);
    CHECK(code_of({}) == ErrorCode::kUnsupported);
    BundleBytes archive;
    const auto bundle = bundle_of({{bundle_entry_name(kId), elf_with_id(kId)}}, archive);
    BundleBytes cut(archive.begin(), archive.end() - 30);
    CHECK(code_of(cut) == ErrorCode::kCorrupt);
    BundleBytes empty;
    CHECK(bundle_of({}, empty)->entries() == 0);
    BundleBytes other;
    codec::ZipWriter zip([&other](std::span<const std::byte> bytes) {
      other.insert(other.end(), bytes.begin(), bytes.end());
      return Status();
    });
    REQUIRE(zip.add("readme", elf_with_id(kId)).has_value());
    REQUIRE(zip.finish().has_value());
    CHECK(code_of(other) == ErrorCode::kUnsupported);
    CHECK(SymbolBundle::open("/no/such/bundle").error().code == ErrorCode::kNotFound);
  }

  TEST_CASE("an entry that is not what the archive says of it is refused") {
    BundleBytes archive;
    {
      const auto bundle = bundle_of({{bundle_entry_name(kId), elf_with_id(kId)}}, archive);
      REQUIRE(bundle->find(kId));
    }
    BundleBytes damaged = archive;
    constexpr std::size_t kInContent = 30 + 23 + 20;  // header, name
    damaged[kInContent] ^= std::byte{1};
    const auto bundle = SymbolBundle::open(io::source_of_memory(damaged), "x");
    REQUIRE(bundle.has_value());
    CHECK_FALSE((*bundle)->find(kId));
    CHECK((*bundle)->refused() == 1);
  }
}

}  // namespace stackpack::symbolize
