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

  TEST_CASE("frame rebaser: an address beyond the extent of its image has no place there") {
    // The kernel's mapping begins 16 MiB before its image does.
    constexpr std::uint64_t kMapped = 0xFFFF'FFFF'8000'0000;
    constexpr std::uint64_t kText = 0xFFFF'FFFF'8100'0000;
    SpkContent content;
    Module kernel = mapping(kKernelPid, "[kernel.kallsyms]");
    kernel.base = kMapped;
    kernel.size = 0x200'0000;
    content.tables.modules = {kernel};
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    const auto symbols = std::move(Symbols::load(*reader).value());
    app::ImageTable places;
    const std::vector<MetadataEntry> facts{{"kernel.reference_address", "0xffffffff81000000"}};
    const auto images = app::input_images(symbols->modules(), facts, false, places);
    REQUIRE(places.place());
    app::NameUnion names;
    const app::InputCalls calls{symbols->names(), names};
    app::FrameRebaser rebaser({*symbols, images, places, calls, names}, 10);
    const std::uint64_t base = places.base(images.front().image);
    std::vector<Frame> result;
    const std::vector<Frame> stack{{FrameMode::kKernel, kText},
                                   {FrameMode::kKernel, kText + 0xFF'FFFF},
                                   {FrameMode::kKernel, kText - 0x10}};
    rebaser.rebase(stack, {7, 5, 0, 0}, result);
    REQUIRE(result.size() == 3);
    CHECK(result[0].address == base);
    CHECK(result[1].address == base + 0xFF'FFFF);
    CHECK(result[2].address == kText - 0x10);
    CHECK(rebaser.unplaced().kernel == 1);
  }

  TEST_CASE("frame rebaser: beyond the room that an image has an address stays what it is") {
    Input input;
    app::ImageTable places;
    for (app::InputImage& image : input.images) {
      const auto row = static_cast<std::size_t>(&image - input.images.data());
      image.image = places.add(input.symbols->modules()[row], 0x1000);
    }
    REQUIRE(places.place());
    app::FrameRebaser rebaser({*input.symbols, input.images, places, input.calls, input.names}, 10);
    const std::size_t row = input.symbols->modules()[0].pid == 7 ? 0 : 1;
    const std::uint64_t base = places.base(input.images[row].image);
    CHECK(rebased(rebaser, kModuleBase + 0x1000, 7, 0) == base + 0x1000);
    CHECK(rebased(rebaser, kModuleBase + 0x1001, 7, 0) == kModuleBase + 0x1001);
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
