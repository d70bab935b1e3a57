// Profiles of branches for compilers and linkers: addresses as each tool has them, and its rules.
#include "app/branches/branch_profile.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace stackpack;
using app::BranchProfile;
using app::BranchRules;

namespace {

constexpr std::uint64_t kOffset = 0x274;  // of the code, in the page of the headers

// Headers at 0x200000, code at 0x201274, as lld lays a program out.
symbolize::ElfIdentity program() {
  symbolize::ElfIdentity elf;
  elf.segments = {{.offset = 0, .address = 0x200000, .file_bytes = 0x200, .memory_bytes = 0x200},
                  {.offset = kOffset,
                   .address = 0x201274,
                   .file_bytes = 0x1000,
                   .memory_bytes = 0x1000,
                   .executable = true}};
  elf.has_image_offsets = true;
  return elf;
}

BranchEdge edge(std::uint32_t from_image, std::uint64_t from, std::uint32_t to_image,
                std::uint64_t to, std::uint64_t count, std::uint64_t mispredicted = 0,
                bool wrong_path = false) {
  BranchEdge row;
  row.from_image = from_image;
  row.from = from;
  row.to_image = to_image;
  row.to = to;
  row.count = count;
  row.mispredicted = mispredicted;
  row.wrong_path = wrong_path;
  return row;
}

BranchRange range(std::uint64_t begin, std::uint64_t end, std::uint64_t count,
                  std::uint64_t head_duplicates = 0, std::uint64_t wrong_path = 0) {
  return {0, 3, begin, end, count, head_duplicates, wrong_path};
}

// A loop of image 3, called from image 5 and left to nowhere.
Branches loop() {
  Branches branches;
  branches.edges = {edge(3, kOffset + 0x20, 3, kOffset + 4, 9, 2),
                    edge(3, kOffset + 0x20, 3, kOffset + 4, 1, 1, true),
                    edge(3, kOffset + 0x30, kNoImage, 0x1234, 5),
                    edge(5, 0x40, 3, kOffset, 4),
                    edge(5, 0x40, 5, 0x50, 7),
                    edge(3, 0x7000, 3, kOffset, 2)};
  branches.ranges = {range(kOffset + 4, kOffset + 0x20, 9, 3, 1),
                     range(kOffset, kOffset + 0x2000 - 0x1001, 2, 1)};
  return branches;
}

std::string text_of(BranchProfile profile, const BranchRules& rules) {
  const auto images = branches_by_image(loop(), rules);
  const auto made = branch_profile_text(profile, images.at(3), program());
  REQUIRE(made.has_value());
  CHECK(made->unplaced == 2);
  return made->text;
}

}  // namespace

TEST_SUITE("branch profile") {
  TEST_CASE("perf2bolt gets virtual addresses, and all that was recorded") {
    CHECK(text_of(BranchProfile::kBolt, app::default_rules(BranchProfile::kBolt)) ==
          "B X:0 201274 4 0\n"
          "B 201294 201278 10 3\n"
          "B 2012a4 X:0 5 0\n"
          "F 201274 202273 2\n"
          "F 201278 201294 9\n");
  }

  TEST_CASE("create_llvm_prof counts from the first segment, without wrong paths") {
    CHECK(text_of(BranchProfile::kAutofdo, app::default_rules(BranchProfile::kAutofdo)) ==
          "2\n1274-2273:2\n1278-1294:8\n0\n1\n1294->1278:9\n");
  }

  TEST_CASE("llvm-profgen counts from the page of the code, and knows no addresses of samples") {
    CHECK(text_of(BranchProfile::kLlvmProfgen, app::default_rules(BranchProfile::kLlvmProfgen)) ==
          "2\n274-1273:2\n278-294:9\n1\n294->278:10\n");
  }

  TEST_CASE("long ranges between equal newest branches go where the rule says so") {
    Branches branches;
    branches.ranges = {range(0, BranchRules::kMostRepeated, 5, 2),
                       range(0, BranchRules::kMostRepeated + 1, 5, 2), range(0, 0x200000, 5)};
    BranchRules rules = app::default_rules(BranchProfile::kAutofdo);
    const auto dropped = branches_by_image(branches, rules).at(3).ranges;
    CHECK(dropped.at({0, BranchRules::kMostRepeated}) == 5);
    CHECK(dropped.at({0, BranchRules::kMostRepeated + 1}) == 3);
    CHECK_FALSE(dropped.contains({0, 0x200000}));
    rules.head_duplicates = true;
    CHECK(branches_by_image(branches, rules).at(3).ranges.at({0, BranchRules::kMostRepeated + 1}) ==
          5);
  }

  TEST_CASE("an image's bytes of code are counted once, however many ranges have them") {
    app::ImageBranches image;
    image.ranges = {{{0, 9}, 1}, {{5, 14}, 1}, {{6, 7}, 1}, {{100, 100}, 1}};
    CHECK(image.covered_bytes() == 16);
    constexpr std::uint64_t kLast = ~std::uint64_t{0};
    image.ranges = {{{kLast - 9, kLast}, 1}, {{kLast, kLast}, 1}};
    CHECK(image.covered_bytes() == 9);
  }

  TEST_CASE("a file without segments gives no profile") {
    CHECK_FALSE(branch_profile_text(BranchProfile::kBolt, {}, {}).has_value());
    symbolize::ElfIdentity data = program();
    data.segments.pop_back();
    CHECK_FALSE(branch_profile_text(BranchProfile::kLlvmProfgen, {}, data).has_value());
  }
}
