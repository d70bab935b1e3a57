#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/unwind/image_store.h"
#include "app/unwind/image_unwinder.h"
#include "app/unwind/missing_images.h"
#include "io/byte_source.h"
#include "support/source_folder.h"
#include "symbolize/elf_identity.h"

using namespace stackpack;
using app::AddressSpaces;
using app::ImageStore;

namespace {

std::string framed_path() {
  return std::string(test::source_folder()) + "/testdata/unwind/framed";
}

std::vector<std::uint8_t> framed_id() {
  const auto file = io::open_regular_file(framed_path());
  REQUIRE(file);
  const auto elf = symbolize::read_elf_identity(**file);
  REQUIRE(elf);
  return elf->build_id;
}

Module mapped(std::uint32_t pid, std::uint64_t start, std::uint64_t end) {
  Module module;
  module.pid = pid;
  module.base = 0x1000;
  module.size = 0x1000;
  module.start_ns = start;
  module.end_ns = end;
  return module;
}

Module image_at(std::string path, std::vector<std::uint8_t> build_id) {
  Module module;
  module.path = std::move(path);
  module.build_id_kind = build_id.empty() ? BuildIdKind::kNone : BuildIdKind::kGnu;
  module.build_id = std::move(build_id);
  return module;
}

}  // namespace

TEST_SUITE("app unwind") {
  TEST_CASE("address spaces: a number for each time in which addresses mean the same") {
    const std::vector<Module> modules{mapped(5, kUnknownTime, 199), mapped(5, 300, kUnknownTime),
                                      mapped(9, kUnknownTime, kUnknownTime)};
    Process process;
    process.pid = 5;
    process.start_ns = 250;
    AddressSpaces spaces({&process, 1}, modules);
    const std::vector<std::uint64_t> times{0, 199, 200, 249, 250, 299, 300, 1'000'000};
    const std::vector<int> epochs{0, 0, 1, 1, 2, 2, 3, 3};
    for (std::size_t a = 0; a < times.size(); ++a) {
      for (std::size_t b = 0; b < times.size(); ++b) {
        CAPTURE(times[a]);
        CAPTURE(times[b]);
        CHECK((spaces.find(5, times[a]) == spaces.find(5, times[b])) == (epochs[a] == epochs[b]));
      }
    }
    CHECK(spaces.find(9, 0) != spaces.find(5, 1'000'000));
    CHECK(spaces.find(9, 0) == spaces.find(9, 77));
    CHECK(spaces.find(6, 77) == AddressSpaces::kNone);
    CHECK(spaces.find(4, 77) == AddressSpaces::kNone);
  }

  TEST_CASE("image store: a file is used when it is the one that was recorded") {
    std::vector<std::uint8_t> other = framed_id();
    other.back() ^= 1U;
    const std::vector<Module> modules{
        image_at(framed_path(), framed_id()),
        image_at(framed_path(), other),
        image_at(framed_path(), {}),
        image_at("//anon", {}),
        image_at("/no/such/file", {1, 2, 3}),
        image_at(framed_path(), framed_id()),
        image_at(std::string(test::source_folder()) + "/README.md", {})};
    ImageStore store(modules, {});
    CHECK(store.image_of(0) == store.image_of(5));
    CHECK(store.images().size() == 6);
    const auto state = [&store](std::uint32_t module) {
      return store.open(store.image_of(module)).state;
    };
    CHECK(state(0) == ImageStore::State::kReady);
    CHECK(store.image(store.image_of(0)).tables->layout().code.size() == 1);
    CHECK(state(1) == ImageStore::State::kMissing);
    CHECK(store.image(store.image_of(1)).search == symbolize::SearchEnd::kOtherBuildId);
    CHECK(state(2) == ImageStore::State::kMissing);
    CHECK(store.image(store.image_of(2)).search == symbolize::SearchEnd::kNoBuildId);
    CHECK(state(3) == ImageStore::State::kNoCode);
    CHECK(state(4) == ImageStore::State::kMissing);
    symbolize::SymbolPlaces believed;
    believed.root = "/";
    believed.has_root = true;
    ImageStore here(modules, believed);
    CHECK(here.open(here.image_of(2)).state == ImageStore::State::kReady);
    CHECK(here.open(here.image_of(1)).state == ImageStore::State::kMissing);
    CHECK(here.open(here.image_of(6)).state == ImageStore::State::kNotElf);
  }

  TEST_CASE("image store: the code before an address calls or not, and is not asked of others") {
    const std::vector<Module> modules{image_at(framed_path(), framed_id()),
                                      image_at(framed_path(), {1, 2, 3}), image_at("//anon", {})};
    ImageStore store(modules, {});
    const auto follows = [&store](std::uint32_t module, std::uint64_t offset) {
      return store.follows_call(store.image_of(module), offset, unwind::Machine::kX64);
    };
    CHECK_FALSE(follows(0, 0x1013));  // nobody has opened it yet
    for (std::uint32_t module = 0; module < 3; ++module) {
      store.open(store.image_of(module));
    }
    for (int pass = 0; pass < 2; ++pass) {
      CHECK(follows(0, 0x1013));  // call run_program
      CHECK(follows(0, 0x1126));
      CHECK(follows(0, 0x115d));
      CHECK_FALSE(follows(0, 0x1014));
      CHECK_FALSE(follows(0, 0x100e));
      CHECK_FALSE(follows(0, 3));           // no room for a call
      CHECK_FALSE(follows(0, 0x100'0000));  // behind the file
      CHECK_FALSE(follows(1, 0x1013));      // of another build
      CHECK_FALSE(follows(2, 0x1013));
    }
    // More places than are remembered.
    for (std::uint64_t offset = 0x1000; offset < 0x1000 + 5000; ++offset) {
      follows(0, offset);
    }
    CHECK(follows(0, 0x1013));
  }

  TEST_CASE("missing images: what is noted comes back, most samples first") {
    const std::vector<Module> modules{image_at("/bin/a b", {}), image_at("/bin/c", {0xAB, 0xCD}),
                                      image_at("/bin/d", {})};
    ImageStore store(modules, {});
    store.image(0).samples = 3;
    store.image(0).search = symbolize::SearchEnd::kNoBuildId;
    store.image(1).samples = 40;
    capture::SystemRecorder system;
    app::note_missing_images(store.images(), system);
    const std::vector<app::MissingImage> rows = app::missing_images(system.finish().metadata);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].path == "/bin/c");
    CHECK(rows[0].build_id == "abcd");
    CHECK(rows[0].samples == 40);
    CHECK(rows[0].reason == "no-file");
    CHECK(rows[1].path == "/bin/a b");
    CHECK(rows[1].build_id.empty());
    CHECK(rows[1].reason == "no-build-id");
  }
}
