#include "app/merge/frame_rebaser.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/spk_reading.h"

namespace stackpack::test {
namespace {

constexpr std::uint64_t kModuleBase = 0x100'000;
constexpr std::uint64_t kSize = 0x40'000;

Module mapping(std::uint32_t pid, const std::string& path) {
  Module module;
  module.pid = pid;
  module.base = kModuleBase;
  module.size = kSize;
  module.path = path;
  return module;
}

// Two processes, each with an image of its own at the same addresses.
SpkContent two_processes() {
  SpkContent content;
  content.tables.processes = {{7, 1, kUnknownTime, kUnknownTime, false, "one", ""},
                              {8, 1, kUnknownTime, kUnknownTime, false, "other", ""}};
  content.tables.modules = {mapping(7, "/lib/one.so"), mapping(8, "/lib/other.so")};
  return content;
}

struct Input {
  std::vector<std::byte> file = spk_bytes(two_processes());
  std::unique_ptr<Reader> reader = open_spk(file);
  std::unique_ptr<const Symbols> symbols = std::move(Symbols::load(*reader).value());
  app::ImageTable places;
  std::vector<app::InputImage> images = app::input_images(symbols->modules(), {}, false, places);
  app::NameUnion names;
  app::InputCalls calls{symbols->names(), names};

  // The base of the image of a process.
  [[nodiscard]] std::uint64_t base_of(std::uint32_t pid) const {
    const auto& modules = symbols->modules();
    const std::size_t row = modules[0].pid == pid ? 0 : 1;
    return places.base(images[row].image);
  }
};

std::uint64_t rebased(app::FrameRebaser& rebaser, std::uint64_t address, std::uint32_t pid,
                      std::uint32_t context) {
  const std::vector<Frame> stack{{FrameMode::kUser, address}};
  std::vector<Frame> result;
  rebaser.rebase(stack, {pid, 5, context, 0}, result);
  REQUIRE(result.size() == 1);
  CHECK(result[0].mode == FrameMode::kUser);
  return result[0].address;
}

TEST_SUITE("frame rebaser") {
  TEST_CASE("frame rebaser: an address is that of its process, however many are known") {
    Input input;
    REQUIRE(input.places.place());
    app::FrameRebaser rebaser(
        {*input.symbols, input.images, input.places, input.calls, input.names}, 1);
    REQUIRE(input.base_of(7) != input.base_of(8));
    // More than there is room for at first, and twice, so that all are found again.
    for (int pass = 0; pass < 2; ++pass) {
      bool all = true;
      for (std::uint64_t offset = 0; offset < kSize; offset += 5) {
        all &= rebased(rebaser, kModuleBase + offset, 7, 0) == input.base_of(7) + offset;
        all &= rebased(rebaser, kModuleBase + offset, 8, 1) == input.base_of(8) + offset;
      }
      CHECK(all);
    }
  }

  TEST_CASE("frame rebaser: what is forgotten means nothing for the next contexts") {
    Input input;
    REQUIRE(input.places.place());
    app::FrameRebaser rebaser(
        {*input.symbols, input.images, input.places, input.calls, input.names}, 100'000);
    CHECK(rebased(rebaser, kModuleBase + 16, 7, 0) == input.base_of(7) + 16);
    rebaser.forget();
    CHECK(rebased(rebaser, kModuleBase + 16, 8, 0) == input.base_of(8) + 16);
  }
}

}  // namespace
}  // namespace stackpack::test
