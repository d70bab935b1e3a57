// The tables of branches as Arrow streams.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/convert/branch_stack_spool.h"
#include "spk/write/branch_writer.h"
#include "spk/write/value_writer.h"
#include "stackpack/arrow.h"
#include "support/arrow_reading.h"
#include "support/random_stacks.h"
#include "support/spk_reading.h"
#include "support/temporary_folder.h"

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

// As the table of branch stacks has it, in its columns.
std::string row_of_branch(const FieldRow& row, std::size_t position, const StackedBranch& branch) {
  const std::uint64_t flags = branch.flags;
  const auto bit = [flags](unsigned at) { return (flags >> at & 1U) != 0 ? "true" : "false"; };
  constexpr const char* kSpeculations[]{"null", "WRONG_PATH", "NON_SPEC_CORRECT_PATH",
                                        "CORRECT_PATH"};
  std::string text = std::to_string(row.sample);
  for (const std::uint64_t number :
       {row.value(SampleField::kBranchStack), std::uint64_t{position}, branch.from, branch.to}) {
    text += ' ' + std::to_string(number);
  }
  for (const unsigned at : {0U, 1U, 2U, 3U}) {
    text += std::string(" ") + bit(at);
  }
  text += ' ' + std::to_string((flags & kBranchCyclesMask) >> kBranchCyclesShift);
  return text + ((flags >> 20U & 1U) != 0 ? " COND " : " UNKNOWN ") +
         kSpeculations[flags >> 24U & 3U];
}

// Samples of which two in three have branch stacks of other lengths.
std::vector<std::byte> stacked_file(std::size_t samples) {
  const ScratchDirectory folder;
  app::BranchStackSpool spool(folder.file("."), {}, std::uint64_t{1} << 20);
  std::vector<FieldRow> rows;
  for (std::size_t i = 0; i < samples; ++i) {
    FieldRow& row = rows.emplace_back();
    row.sample = i;
    row.set(SampleField::kWeight, i);
    std::vector<StackedBranch> stack;
    for (std::uint64_t k = 0; k < i * 7 % 32; ++k) {
      stack.push_back(
          {i % 5 + k, 2 * k,
           k % 16 | (k & 1U) << 20U | k % 4 << 24U | (i % 2 == 0 ? k << kBranchCyclesShift : 0)});
    }
    if (i % 3 != 0 && !stack.empty()) {
      REQUIRE(spool.add(stack, row));
    }
  }
  SpkContent content = random_content(3, 12, samples);
  content.add_branch_stacks = [&](spk::BranchStackWriter& writer) { return spool.write(writer); };
  content.add_fields = [&](spk::FieldWriter& writer) {
    Status added;
    for (std::size_t i = 0; added && i < rows.size(); ++i) {
      added = spool.settle(rows[i]);
      added = added ? writer.add(rows[i]) : added;
    }
    return added ? writer.end() : added;
  };
  return spk_bytes(content);
}

std::vector<std::string> rows_of_stacks(const Reader& reader) {
  std::vector<std::string> rows;
  std::vector<StackedBranch> stack;
  const Status read = reader.sample_fields([&](std::span<const FieldRow> fields) {
    for (const FieldRow& row : fields) {
      CHECK(reader.branch_stack(row, stack));
      for (std::size_t i = 0; i < stack.size(); ++i) {
        rows.push_back(row_of_branch(row, i, stack[i]));
      }
    }
    return true;
  });
  CHECK(failure(read).empty());
  return rows;
}

TEST_SUITE("arrow branches") {
  TEST_CASE("branch stacks: a row for each branch of each sample, in batches of any size") {
    const std::vector<std::byte> file = stacked_file(300);
    const std::shared_ptr<const Reader> reader(open_spk(file));
    const std::vector<std::string> wanted = rows_of_stacks(*reader);
    REQUIRE(wanted.size() > 2'000);
    const auto tables = ArrowTables::of(reader);
    for (const std::uint32_t rows : {1U, 50U, 65'536U}) {
      OwnedStream out;
      ArrowOptions options;
      options.batch_rows = rows;
      REQUIRE(tables->stream(ArrowTable::kBranchStacks, options, &out.stream));
      const ArrowContent content = read_arrow(out.stream);
      CHECK(content.error.empty());
      std::vector<std::string> found;
      for (std::size_t row = 0; row < content.rows(); ++row) {
        std::string& text = found.emplace_back();
        for (const std::string& name : content.names) {
          text += (text.empty() ? "" : " ") + content.at(name, row);
        }
      }
      CHECK(found == wanted);
    }
  }

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
