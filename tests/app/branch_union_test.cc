#include "app/merge/branch_union.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "support/spk_reading.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

constexpr std::uint64_t kShift = 0x100;

TEST_CASE("merge: branches move with their images, and what lies before an image has none") {
  app::ImageTable table;
  Module module;
  module.path = "/bin/a";
  module.size = 0x4000;
  const std::uint32_t image = table.add(module, module.size);
  REQUIRE(table.place().has_value());
  const std::vector<app::InputImage> images = {{image, kShift}, {app::InputImage::kNone, 0}};
  const std::vector<std::uint32_t> events = {1, 0};
  constexpr std::uint32_t kFirstRow = 1;
  const std::uint32_t row = kFirstRow + table.row(image);

  // Images and offsets of an edge: in the input, and in the merge.
  struct End {
    std::uint32_t image;
    std::uint64_t offset;
    std::uint32_t merged_image;
    std::uint64_t merged;
  };
  const std::vector<End> ends = {{0, kShift, row, 0},
                                 {0, kShift + 7, row, 7},
                                 {0, kShift - 1, kNoImage, kShift - 1},
                                 {1, 0x5000, kNoImage, 0x5000},
                                 {kNoImage, 0x6000, kNoImage, 0x6000}};
  Branches branches;
  std::vector<BranchEdge> expected;
  for (const End& from : ends) {
    for (const End& to : ends) {
      BranchEdge edge;
      edge.event = 0;
      edge.from_image = from.image;
      edge.from = from.offset;
      edge.to_image = to.image;
      edge.to = to.offset;
      edge.count = branches.edges.size() + 1;
      branches.edges.push_back(edge);
      edge.event = events[edge.event];
      edge.from_image = from.merged_image;
      edge.from = from.merged;
      edge.to_image = to.merged_image;
      edge.to = to.merged;
      expected.push_back(edge);
    }
  }
  branches.ranges = {{0, 0, kShift, kShift, 3, 0, 0},
                     {0, 0, kShift + 4, kShift + 9, 5, 0, 0},
                     {0, 0, kShift - 1, kShift + 9, 7, 0, 0},
                     {1, 1, 0x10, 0x20, 11, 0, 0}};

  const ScratchDirectory folder;
  app::BranchUnion merged(folder.file(""));
  REQUIRE(merged.add(branches, {images, table, events}).has_value());
  REQUIRE(merged.add(branches, {images, table, events}).has_value());
  capture::LossCounters losses;
  SpkContent content;
  content.events = {{"one", true}, {"two", true}};
  content.tables.modules.resize(kFirstRow + 1);
  content.add_branches = [&](spk::BranchWriter& out) {
    return merged.write(kFirstRow, losses, out);
  };
  const std::vector<std::byte> file = spk_bytes(content);
  const auto reader = open_spk(file);
  const Result<Branches> found = reader->branches();
  REQUIRE_MESSAGE(found.has_value(), failure(found));
  std::sort(expected.begin(), expected.end(),
            [](const BranchEdge& a, const BranchEdge& b) { return branch_key(a) < branch_key(b); });
  REQUIRE(found->edges.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(branch_key(found->edges[i]) == branch_key(expected[i]));
    CHECK(found->edges[i].count == 2 * expected[i].count);
  }
  REQUIRE(found->ranges.size() == 2);
  for (const auto& [at, begin, end, count] :
       {std::tuple{0U, 0U, 0U, 6U}, std::tuple{1U, 4U, 9U, 10U}}) {
    CHECK(branch_key(found->ranges[at]) ==
          std::tuple(1U, row + 1, std::uint64_t{begin}, std::uint64_t{end}));
    CHECK(found->ranges[at].count == count);
  }
  const auto counted = losses.sorted();
  REQUIRE(counted.size() == 1);
  CHECK(counted[0].count == 2 * (7 + 11));
}

}  // namespace
}  // namespace stackpack::test
