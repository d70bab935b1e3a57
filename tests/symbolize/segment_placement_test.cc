#include "symbolize/segment_placement.h"

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <elf.h>

namespace stackpack::symbolize {

namespace {

constexpr std::uint64_t kBias = 0x5555'5555'4000;

ElfSegment code_at(std::uint64_t address, std::uint64_t bytes, std::uint64_t alignment = 0x1000) {
  return {0, address, 0, bytes, true, alignment};
}

ElfSegment data_at(std::uint64_t address, std::uint64_t bytes) {
  return {0, address, 0, bytes, false, 0x1000};
}

ElfIdentity debug_file(std::vector<ElfSegment> segments, std::uint16_t type = ET_DYN,
                       std::uint16_t machine = EM_X86_64) {
  ElfIdentity elf;
  elf.type = type;
  elf.machine = machine;
  elf.segments = std::move(segments);
  return elf;
}

// Offsets of the segments that are placed, by address; nothing: refused.
std::optional<std::vector<std::uint64_t>> offsets_of(ElfIdentity file,
                                                     std::vector<ImageMapping> mappings) {
  const std::vector<ElfSegment> before = file.segments;
  if (!place_segments(file, mappings)) {
    CHECK(file.segments.size() == before.size());
    return std::nullopt;
  }
  std::vector<std::uint64_t> offsets;
  for (const ElfSegment& segment : file.segments) {
    CHECK(segment.executable);
    CHECK(segment.file_bytes == segment.memory_bytes);
    offsets.push_back(segment.offset);
  }
  return offsets;
}

using Offsets = std::vector<std::uint64_t>;

}  // namespace

TEST_SUITE("segment placement") {
  TEST_CASE("the mapping that covers as many pages says where the segment is in the image") {
    struct Case {
      std::string name;
      ElfIdentity file;
      std::vector<ImageMapping> mappings;
      std::optional<Offsets> expected;
    };
    const ElfIdentity plain = debug_file({data_at(0, 0x650), code_at(0x1000, 0x21F5),
                                          data_at(0x4000, 0x118), data_at(0x5DD0, 0x9000)});
    const ElfIdentity inside_page = debug_file({data_at(0, 0x694), code_at(0x16A0, 0x1F0)});
    const ElfIdentity first = debug_file({code_at(0, 0x8F0), data_at(0x1DD0, 0xC3790)});
    const ElfIdentity fixed =
        debug_file({data_at(0x400000, 0x528), code_at(0x401000, 0x31E5)}, ET_EXEC);
    const ElfIdentity two = debug_file({code_at(0x1000, 0x1800), code_at(0x9000, 0x1900)});
    const ElfIdentity arm = debug_file({code_at(0x1'2340, 0x1'0000, 0x1'0000)}, ET_DYN, EM_AARCH64);
    const std::vector<Case> cases{
        {"one of as many pages", plain, {{7, kBias + 0x1000, 0x3000, 0x1000}}, Offsets{0x1000}},
        {"further in the image", plain, {{7, kBias + 0x1000, 0x3000, 0x8000}}, Offsets{0x8000}},
        {"a piece of it", plain, {{7, kBias + 0x2000, 0x2000, 0x2000}}, std::nullopt},
        {"more than it", plain, {{7, kBias + 0x1000, 0x4000, 0x1000}}, std::nullopt},
        {"no mapping", plain, {}, std::nullopt},
        {"pieces that follow each other",
         plain,
         {{7, kBias + 0x2000, 0x2000, 0x2000}, {7, kBias + 0x1000, 0x1000, 0x1000}},
         Offsets{0x1000}},
        {"pieces that do not follow each other in the file",
         plain,
         {{7, kBias + 0x2000, 0x2000, 0x6000}, {7, kBias + 0x1000, 0x1000, 0x1000}},
         std::nullopt},
        {"pieces of two processes",
         plain,
         {{8, kBias + 0x2000, 0x2000, 0x2000}, {7, kBias + 0x1000, 0x1000, 0x1000}},
         std::nullopt},
        {"equal in many processes, and a piece in one",
         plain,
         {{7, kBias + 0x1000, 0x3000, 0x1000},
          {8, 0x1000, 0x3000, 0x1000},
          {9, 0x3000, 0x1000, 0x2000}},
         Offsets{0x1000}},
        {"two processes that contradict each other",
         plain,
         {{7, kBias + 0x1000, 0x3000, 0x1000}, {8, kBias + 0x1000, 0x3000, 0x2000}},
         std::nullopt},
        {"code that begins inside a page", inside_page, {{7, kBias, 0x1000, 0}}, Offsets{0x6A0}},
        {"the first segment, mapped for all of them", first, {{7, kBias, 0xC6000, 0}}, Offsets{0}},
        {"the first segment, mapped for itself", first, {{7, kBias, 0x1000, 0}}, Offsets{0}},
        {"a program that is not moved", fixed, {{7, 0x401000, 0x4000, 0x1000}}, Offsets{0x1000}},
        {"a piece of a program that is not moved",
         fixed,
         {{7, 0x402000, 0x1000, 0x9000}},
         Offsets{0x8000}},
        {"a program that is not moved, elsewhere",
         fixed,
         {{7, 0x501000, 0x4000, 0x1000}},
         std::nullopt},
        {"a program that is not moved, longer",
         fixed,
         {{7, 0x401000, 0x5000, 0x1000}},
         std::nullopt},
        {"two of as many pages, told by their distance",
         two,
         {{7, kBias + 0x1000, 0x2000, 0x1000}, {7, kBias + 0x9000, 0x2000, 0x5000}},
         Offsets{0x1000, 0x5000}},
        {"two of as many pages, one mapping", two, {{7, kBias, 0x2000, 0x1000}}, std::nullopt},
        {"two of as many pages, at another distance",
         two,
         {{7, kBias + 0x1000, 0x2000, 0x1000}, {7, kBias + 0xA000, 0x2000, 0x5000}},
         std::nullopt},
        {"large pages", arm, {{7, kBias & ~0xFFFFULL, 0x2'0000, 0x1'0000}}, Offsets{0x1'2340}},
        {"small pages of the same machine",
         arm,
         {{7, 0x7000'0000'2000, 0x1'1000, 0x1'2000}},
         Offsets{0x1'2340}},
        {"an offset that the alignment forbids",
         debug_file({code_at(0x20'1000, 0x21F5, 0x20'0000)}),
         {{7, kBias, 0x3000, 0x3000}},
         std::nullopt},
    };
    for (const Case& one : cases) {
      CAPTURE(one.name);
      CHECK(offsets_of(one.file, one.mappings) == one.expected);
    }
  }

  TEST_CASE("a shift of the image that all mappings have in common counts") {
    // The read-only segment is as long as the code, and was recorded as if it were code.
    const ElfIdentity file =
        debug_file({data_at(0, 0x2800), code_at(0x3000, 0x2FF0), data_at(0x6000, 0x118)});
    CHECK(offsets_of(file, {{7, kBias, 0x3000, 0}, {7, kBias + 0x3000, 0x3000, 0x3000}}) ==
          Offsets{0x3000});
  }

  TEST_CASE("numbers of a hostile file do no harm") {
    for (const std::uint64_t number : {0ULL, 1ULL, 0xFFFULL, 0x8000'0000'0000'0000ULL, ~0ULL}) {
      for (const std::uint16_t type : {std::uint16_t{ET_DYN}, std::uint16_t{ET_EXEC}}) {
        const ElfIdentity file =
            debug_file({code_at(number, ~number, number), code_at(~number, number, 3)}, type);
        offsets_of(file, {{7, number, number, ~number}, {7, 0, ~0ULL << 12, number}});
      }
    }
    const ElfIdentity many =
        debug_file(std::vector<ElfSegment>(kMostPlacedSegments, code_at(0x1000, 0x1000)));
    std::vector<ImageMapping> mappings;
    for (std::uint32_t pid = 0; pid < 10'000; ++pid) {
      mappings.push_back({pid, 0x1000, 0x1000, 0x1000});
    }
    CHECK(offsets_of(many, mappings) == std::nullopt);
    CHECK(offsets_of(
              debug_file(std::vector<ElfSegment>(kMostPlacedSegments + 1, code_at(0x1000, 0x1000))),
              mappings) == std::nullopt);
  }
}

}  // namespace stackpack::symbolize
