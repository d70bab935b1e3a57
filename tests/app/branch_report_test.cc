// The report of branches: runs through a place, loops, and addresses of images.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/branches/image_addresses.h"
#include "app/branches/loop_finder.h"

using namespace stackpack;
using app::CodeRuns;
using app::FoundLoop;
using app::TakenJump;

namespace {

CodeRuns runs_of(const std::vector<BranchRange>& ranges) {
  CodeRuns runs;
  for (const BranchRange& range : ranges) {
    runs.add(range.begin, range.end, range.count);
  }
  runs.settle();
  return runs;
}

BranchRange run(std::uint64_t begin, std::uint64_t end, std::uint64_t count) {
  BranchRange range;
  range.begin = begin;
  range.end = end;
  range.count = count;
  return range;
}

Module mapping(std::uint32_t pid, std::uint64_t base, std::uint64_t offset, std::uint64_t size,
               const std::string& path, std::vector<std::uint8_t> build_id) {
  Module module;
  module.pid = pid;
  module.base = base;
  module.file_offset = offset;
  module.size = size;
  module.path = path;
  module.build_id = std::move(build_id);
  return module;
}

}  // namespace

TEST_SUITE("branch report") {
  TEST_CASE("runs go through what they begin with, and end at their last instruction") {
    const CodeRuns runs = runs_of({run(0x10, 0x20, 3), run(0x18, 0x30, 5), run(0x20, 0x20, 7)});
    CHECK(runs.through(0x0f) == 0);
    CHECK(runs.through(0x10) == 3);
    CHECK(runs.through(0x18) == 8);
    CHECK(runs.through(0x20) == 5);
    CHECK(runs.through(0x30) == 0);
    CHECK(runs.into(0x10) == 0);
    CHECK(runs.into(0x18) == 3);
    CHECK(runs.into(0x20) == 8);
    CHECK(runs.into(0) == 0);
    CHECK(CodeRuns().through(5) == 0);
  }

  TEST_CASE("a loop that is fallen into, with one in it") {
    // 10: outer head; 20..28 the inner loop, 4 turns each; 40 back to 10, ten turns; entered twice.
    const std::vector<FoundLoop> loops =
        app::find_loops({{0x28, 0x20, 60, true}, {0x40, 0x10, 18, true}},
                        runs_of({run(0x00, 0x28, 2), run(0x10, 0x28, 18), run(0x20, 0x28, 40),
                                 run(0x20, 0x40, 20)}));
    REQUIRE(loops.size() == 2);
    CHECK(loops[0].head == 0x10);
    CHECK(loops[0].last_branch == 0x40);
    CHECK(loops[0].iterations == 20);
    CHECK(loops[0].entries == 2);
    CHECK(loops[1].head == 0x20);
    CHECK(loops[1].iterations == 80);
    CHECK(loops[1].entries == 20);
  }

  TEST_CASE("jumps back that overlap are one loop, entered by a jump into it") {
    const std::vector<FoundLoop> loops =
        app::find_loops({{0x08, 0x34, 11, true}, {0x38, 0x20, 232, true}, {0x4d, 0x2c, 237, true}},
                        runs_of({run(0x20, 0x38, 227), run(0x20, 0x4d, 5), run(0x34, 0x38, 11)}));
    REQUIRE(loops.size() == 1);
    CHECK(loops[0].head == 0x2c);
    CHECK(loops[0].last_branch == 0x4d);
    CHECK(loops[0].iterations == 237 + 232);
    CHECK(loops[0].entries == 11);
  }

  TEST_CASE("a call enters the loop that its function begins with, a jump within does not") {
    constexpr std::uint64_t kElsewhere = ~std::uint64_t{0};
    const std::vector<FoundLoop> loops = app::find_loops({{kElsewhere, 0x10, 4, false},
                                                          {0x60, 0x10, 1, false},
                                                          {0x14, 0x18, 9, true},
                                                          {0x20, 0x10, 45, true}},
                                                         runs_of({}));
    REQUIRE(loops.size() == 1);
    CHECK(loops[0].iterations == 50);
    CHECK(loops[0].entries == 5);
    CHECK(app::find_loops({{0x60, 0x10, 1, false}}, runs_of({})).empty());
    const auto last = app::find_loops({{kElsewhere, 0x10, 5, true}, {0x8, 0x10, 2, true}}, {});
    REQUIRE(last.size() == 1);
    CHECK(last[0].entries == 2);
  }

  TEST_CASE("an offset of an image is an address of the mapping that has it") {
    const std::vector<Module> modules{
        mapping(7, 0x1000, 0, 0x1000, "/a", {1}), mapping(8, 0x5000, 0, 0x1000, "/other", {1}),
        mapping(8, 0x9000, 0x1000, 0x1000, "/a", {1}), mapping(9, 0x1000, 0, 0x1000, "/a", {}),
        mapping(kKernelPid, 0xffff'0000, 0x10, 0x100, "[kernel.kallsyms]", {})};
    const app::ImageAddresses addresses(modules);
    CHECK(addresses.find(0, 0x10)->frame.address == 0x1010);
    CHECK(addresses.find(0, 0x10)->pid == 7);
    CHECK(addresses.find(0, 0x1fff)->frame.address == 0x9fff);
    CHECK_FALSE(addresses.find(0, 0x2000).has_value());
    CHECK(addresses.find(3, 0xfff)->pid == 9);
    CHECK_FALSE(addresses.find(3, 0x1000).has_value());
    CHECK(addresses.find(4, 0x10)->frame == Frame{FrameMode::kKernel, 0xffff'0000});
    CHECK_FALSE(addresses.find(4, 0xf).has_value());
    CHECK_FALSE(addresses.find(1, 0).has_value());
  }
}
