// The tables of branches as Arrow streams.
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "spk/write/branch_writer.h"
#include "stackpack/arrow.h"
#include "support/arrow_reading.h"
#include "support/spk_reading.h"

namespace stackpack::test {
namespace {

BranchEdge arrow_edge() {
  BranchEdge edge;
  edge.from_image = 0;
  edge.from = 0x1030;
  edge.to = 0x77;
  edge.type = BranchType::kConditional;
  edge.wrong_path = true;
  edge.count = 5;
  edge.mispredicted = 4;
  edge.cycles = 3;
  edge.head_duplicates = 2;
  return edge;
}

SpkContent branched_content() {
  SpkContent content = random_content(64, 10, 20);
  Module module;
  module.path = "/usr/bin/demo";
  module.size = 0x2000;
  module.build_id_kind = BuildIdKind::kGnu;
  module.build_id = {0xab, 0xcd};
  content.tables.modules = {module};
  content.add_branches = [](spk::BranchWriter& out) {
    const BranchRange range{0, 0, 0x1010, 0x1030, 9, 8, 7};
    const Status added = out.add(arrow_edge());
    return added ? out.add(range) : added;
  };
  return content;
}

std::vector<std::string> only_row(const ArrowTables& tables, ArrowTable table,
                                  const std::vector<std::string>& columns) {
  OwnedStream out;
  const Status made = tables.stream(table, {}, &out.stream);
  REQUIRE_MESSAGE(made.has_value(), failure(made));
  const ArrowContent content = read_arrow(out.stream);
  CHECK(content.error.empty());
  REQUIRE(content.rows() == 1);
  std::vector<std::string> row;
  for (const std::string& column : columns) {
    row.push_back(content.at(column, 0));
  }
  return row;
}

TEST_SUITE("arrow branches") {
  TEST_CASE("branches and ranges have their images, and sums as they are") {
    const SpkContent content = branched_content();
    const std::vector<std::byte> file = spk_bytes(content);
    const auto tables = ArrowTables::of(std::shared_ptr<const Reader>(open_spk(file)));
    const std::string event = content.events[0].name;
    CHECK(only_row(*tables, ArrowTable::kBranches,
                   {"event", "from_module", "from_image", "from_build_id", "from", "to_module",
                    "to_image", "to_build_id", "to", "type", "wrong_path", "count", "mispredicted",
                    "cycles", "head_duplicates"}) ==
          std::vector<std::string>{event, "0", "demo", "abcd", "4144", "null", "null", "null",
                                   "119", "COND", "true", "5", "4", "3", "2"});
    CHECK(only_row(*tables, ArrowTable::kRanges,
                   {"event", "module", "image", "build_id", "begin", "end", "count",
                    "head_duplicates", "wrong_path"}) ==
          std::vector<std::string>{event, "0", "demo", "abcd", "4112", "4144", "9", "8", "7"});
  }
}

}  // namespace
}  // namespace stackpack::test
