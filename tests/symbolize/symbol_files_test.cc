#include "symbolize/symbol_files.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "io/byte_source.h"
#include "io/memory_file.h"
#include "support/elf_maker.h"
#include "support/temporary_folder.h"

namespace stackpack::symbolize {

namespace {

const std::vector<std::uint8_t> kImageId{0x11, 0x22, 0x33};
const std::vector<std::uint8_t> kSharedId{0x44, 0x55, 0x66};
const std::vector<std::uint8_t> kForeignId{0x44, 0x55, 0x67};

void put_file(const std::string& path, const test::ElfMaker& maker) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream out(path, std::ios::binary);
  for (const std::byte byte : maker.file()) {
    out.put(static_cast<char>(byte));
  }
}

std::string linked_name(const std::vector<std::uint8_t>& id) {
  const std::string text = build_id_text(id);
  return ".build-id/" + text.substr(0, 2) + "/" + text.substr(2) + ".debug";
}

}  // namespace

TEST_CASE("symbol files: a debug file that is found by its name has the checksum of the link") {
  test::ElfMaker debug;
  debug.add_symbols();
  test::ElfMaker foreign = debug;
  foreign.add(".comment", SHT_PROGBITS, 0, test::TestBytes().text("another program"));
  const std::uint32_t crc = debug_link_crc(*io::source_of_memory(debug.file())).value();
  for (const char* const place :
       {"symbols/demo.debug", "root/bin/demo.debug", "root/bin/.debug/demo.debug",
        "root/usr/lib/debug/bin/demo.debug"}) {
    CAPTURE(place);
    const test::ScratchDirectory folder;
    put_file(folder.file("root/bin/demo"),
             test::ElfMaker().add_build_id(kImageId).add_code().add_debug_link("demo.debug", crc));
    SymbolPlaces places;
    places.directories = {folder.file("symbols")};
    places.root = folder.file("root");
    put_file(folder.file(place), foreign);
    const FoundFiles without = find_elf_files({"/bin/demo", kImageId}, places);
    CHECK(without.end == SearchEnd::kFound);
    CHECK(without.image);
    CHECK_FALSE(without.debug);
    put_file(folder.file(place), debug);
    const FoundFiles with = find_elf_files({"/bin/demo", kImageId}, places);
    CHECK(with.image);
    REQUIRE(with.debug);
    CHECK(with.debug_path == folder.file(place));
  }
}

TEST_CASE("symbol files: what several debug files share is found in all layouts, by its build id") {
  struct Case {
    const char* link;
    std::string place;
  };
  const std::vector<Case> cases{
      {"/usr/lib/debug/.dwz/a.debug", "symbols/usr/lib/debug/.dwz/a.debug"},
      {"/usr/lib/debug/.dwz/a.debug", "symbols/.dwz/a.debug"},
      {"/usr/lib/debug/.dwz/a.debug", "symbols/a.debug"},
      {"/usr/lib/debug/.dwz/a.debug", "symbols/" + linked_name(kSharedId)},
      {"/usr/lib/debug/.dwz/a.debug", "symbols/usr/lib/debug/" + linked_name(kSharedId)},
      {"/usr/lib/debug/.dwz/a.debug", "root/usr/lib/debug/.dwz/a.debug"},
      {"/usr/lib/debug/.dwz/a.debug", "root/usr/lib/debug/" + linked_name(kSharedId)},
      {"/opt/shared/a.debug", "symbols/opt/shared/a.debug"},
      {"../../.dwz/a.debug", "symbols/usr/lib/debug/.dwz/a.debug"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.link);
    CAPTURE(one.place);
    const test::ScratchDirectory folder;
    put_file(folder.file("symbols/usr/lib/debug/" + linked_name(kImageId)),
             test::ElfMaker()
                 .add_build_id(kImageId)
                 .add(".debug_info", SHT_PROGBITS, 0, test::TestBytes().zeros(4))
                 .add_alternate_link(one.link, kSharedId));
    SymbolPlaces places;
    places.directories = {folder.file("symbols")};
    places.root = folder.file("root");
    const auto is_found = [&] {
      const FoundFiles found = find_elf_files({"/bin/demo", kImageId}, places);
      CHECK(found.debug);
      return static_cast<bool>(found.alternate);
    };
    CHECK_FALSE(is_found());
    put_file(folder.file(one.place), test::ElfMaker().add_build_id(kForeignId));
    CHECK_FALSE(is_found());
    put_file(folder.file(one.place), test::ElfMaker().add_build_id(kSharedId));
    CHECK(is_found());
  }
}

TEST_CASE("symbol files: the vdso is the running kernel's, when it has that build id") {
  const Result<io::Descriptor> running = io::open_running_vdso();
  if (!running) {
    return;  // emulators have none
  }
  const auto source = io::source_of_descriptor(running->get());
  const Result<ElfIdentity> own = read_elf_identity(*source);
  REQUIRE(own.has_value());
  if (own->build_id.empty()) {
    return;
  }
  const FoundFiles found = find_elf_files({"[vdso]", own->build_id}, {});
  CHECK(found.end == SearchEnd::kFound);
  CHECK(found.image);
  CHECK(found.image_path == "[vdso]");
  CHECK(found.bytes != 0);
  std::vector<std::uint8_t> other = own->build_id;
  other.front() ^= 1;
  CHECK(find_elf_files({"[vdso]", other}, {}).end == SearchEnd::kOtherBuildId);
  CHECK(find_elf_files({"[vdso]", {}}, {}).end == SearchEnd::kNoBuildId);
}

}  // namespace stackpack::symbolize
