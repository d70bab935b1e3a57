// Branches in a file: what is written comes back, and what breaks a rule is refused.
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "capture/branch_order.h"
#include "spk/format/branch_codec.h"
#include "support/random_stacks.h"
#include "support/spk_reading.h"

namespace stackpack::test {
namespace {

auto sums_of(const BranchEdge& row) {
  return std::tuple(branch_key(row), row.count, row.mispredicted, row.cycles, row.head_duplicates);
}
auto sums_of(const BranchRange& row) {
  return std::tuple(branch_key(row), row.count, row.head_duplicates, row.wrong_path);
}

template <typename Row>
void check_same(const std::vector<Row>& found, const std::vector<Row>& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CHECK(sums_of(found[i]) == sums_of(wanted[i]));
  }
}

std::uint32_t random_image(Random& random) {
  return random.below(4) == 0 ? kNoImage : static_cast<std::uint32_t>(random.below(2));
}

// Branches of two events and two images, in the order of a file.
Branches random_branches(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  Branches branches;
  for (std::size_t i = 0; i < count; ++i) {
    BranchEdge edge;
    edge.event = static_cast<std::uint32_t>(random.below(2));
    edge.from_image = random_image(random);
    edge.to_image = random_image(random);
    edge.from = edge.from_image == kNoImage ? random.below(~std::uint64_t{0}) : random.below(9000);
    edge.to = edge.to_image == kNoImage ? random.below(~std::uint64_t{0}) : random.below(9000);
    edge.type = static_cast<BranchType>(random.below(256));
    edge.wrong_path = random.below(2) == 0;
    edge.count = 1 + random.below(1000);
    edge.mispredicted = random.below(edge.count + 1);
    edge.cycles = random.below(100'000);
    edge.head_duplicates = random.below(edge.count + 1);
    branches.edges.push_back(edge);
    BranchRange range;
    range.event = edge.event;
    range.image = static_cast<std::uint32_t>(random.below(2));
    range.begin = random.below(100'000);
    range.end = range.begin + random.below(500);
    range.count = edge.count;
    range.head_duplicates = edge.mispredicted;
    range.wrong_path = edge.head_duplicates;
    branches.ranges.push_back(range);
  }
  const auto put_in_order = [](auto& rows) {
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return capture::is_before(a, b); });
    rows.erase(std::unique(rows.begin(), rows.end(),
                           [](const auto& a, const auto& b) { return !capture::is_before(a, b); }),
               rows.end());
  };
  put_in_order(branches.edges);
  put_in_order(branches.ranges);
  return branches;
}

SpkContent content_with(const Branches& branches) {
  SpkContent content = random_content(3, 12, 25);
  content.events.resize(2);
  content.events[1].name = "other";
  content.tables.modules.resize(2);
  content.add_branches = [branches](spk::BranchWriter& out) {
    for (const BranchEdge& row : branches.edges) {
      if (const Status added = out.add(row); !added) {
        return added;
      }
    }
    for (const BranchRange& row : branches.ranges) {
      if (const Status added = out.add(row); !added) {
        return added;
      }
    }
    return Status{};
  };
  return content;
}

TEST_SUITE("spk branches") {
  TEST_CASE("spk branches: rows come back as they were") {
    for (const std::size_t count : {1U, 4096U, 10'000U}) {
      const Branches branches = random_branches(count, count);
      const std::vector<std::byte> file = spk_bytes(content_with(branches));
      const auto reader = open_spk(file);
      CHECK(failure(reader->verify()).empty());
      const Result<Branches> found = reader->branches();
      REQUIRE_MESSAGE(found.has_value(), failure(found));
      check_same(found->edges, branches.edges);
      check_same(found->ranges, branches.ranges);
    }
  }

  TEST_CASE("spk branches: a file without them has no sections of them") {
    const std::vector<std::byte> file = spk_bytes(content_with({}));
    const auto reader = open_spk(file);
    const Result<Branches> found = reader->branches();
    REQUIRE(found.has_value());
    CHECK(found->edges.empty());
    for (const SectionInfo& section : reader->sections()) {
      CHECK(section.name.find("branch") == std::string::npos);
    }
  }

  TEST_CASE("spk branches: rows that break a rule are refused") {
    struct Case {
      std::string what;
      std::function<void(Branches&)> change;
    };
    const std::vector<Case> cases{
        {"count of none", [](Branches& b) { b.edges[1] = {}; }},
        {"more mispredicted than taken",
         [](Branches& b) { b.edges[3].mispredicted = b.edges[3].count + 1; }},
        {"more head duplicates than taken",
         [](Branches& b) { b.edges[3].head_duplicates = b.edges[3].count + 1; }},
        {"edges out of order", [](Branches& b) { std::swap(b.edges[3], b.edges[4]); }},
        {"an edge twice", [](Branches& b) { b.edges[4] = b.edges[3]; }},
        {"an event that is not there", [](Branches& b) { b.edges.back().event = 2; }},
        {"an image that is not there", [](Branches& b) { b.edges.back().from_image = 2; }},
        {"a target that is not there", [](Branches& b) { b.edges[3].to_image = 2; }},
        {"range of none", [](Branches& b) { b.ranges[3].count = 0; }},
        {"range without image",
         [](Branches& b) { b.ranges.front() = {0, kNoImage, 1, 2, 1, 0, 0}; }},
        {"an image of a range that is not there", [](Branches& b) { b.ranges.back().image = 2; }},
        {"backward range", [](Branches& b) { b.ranges[3].end = b.ranges[3].begin - 1; }},
        {"more wrong paths than runs",
         [](Branches& b) { b.ranges[3].wrong_path = b.ranges[3].count + 1; }},
        {"ranges out of order", [](Branches& b) { std::swap(b.ranges[3], b.ranges[4]); }},
    };
    const ScratchDirectory directory;
    for (const Case& c : cases) {
      CAPTURE(c.what);
      Branches branches = random_branches(11, 50);
      c.change(branches);
      const std::string path = directory.file("x");
      const auto written = write_spk(content_with(branches), {}, path);
      // Numbers of images and events are the caller's; of all else the writer has the reader's
      // rules.
      REQUIRE(written.has_value() == (c.what.find("that is not there") != std::string::npos));
      if (written.has_value()) {
        const std::vector<std::byte> file = read_test_file(path);
        const auto reader = open_spk(file);
        CHECK_FALSE(reader->branches().has_value());
        CHECK_FALSE(failure(reader->verify()).empty());
      }
    }
  }
}

}  // namespace
}  // namespace stackpack::test
