// Every column of every table of small captures, as it was when somebody last looked at it.
//
// arrow_tables.txt has a line for each table: capture, table, rows, a digest of all values, and the
// first row.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "stackpack/arrow.h"
#include "stackpack/convert.h"
#include "stackpack/reader.h"
#include "support/arrow_reading.h"
#include "support/known_lines.h"
#include "support/source_folder.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

constexpr std::size_t kShownBytes = 600;
constexpr std::size_t kShownOfParts = 80;

std::string row_text(const ArrowContent& table, std::size_t row) {
  std::string text;
  for (const std::string& name : table.names) {
    if (name == "fingerprint") {
      continue;  // of the program's version as well
    }
    text += (text.empty() ? "" : "|") + name + '=' + table.at(name, row);
  }
  for (char& letter : text) {
    letter = letter == '\n' ? ' ' : letter;
  }
  return text;
}

std::string listing_of(const ArrowTables& tables, ArrowTable table, const ArrowOptions& options,
                       std::size_t shown = kShownBytes) {
  OwnedStream out;
  const Status made = tables.stream(table, options, &out.stream);
  if (!made) {
    return message(made.error());
  }
  const ArrowContent content = read_arrow(out.stream);
  std::string all = content.error;
  for (std::size_t row = 0; row < content.rows(); ++row) {
    all += row_text(content, row) + '\n';
  }
  const std::string first = content.rows() == 0 ? "" : row_text(content, 0);
  return std::to_string(content.rows()) + ' ' + digest_of(all) + ' ' + first.substr(0, shown);
}

// Parts of tables: few rows a batch, a part of the time, and for the table of functions every
// grain.
std::vector<std::pair<std::string, ArrowOptions>> part_options(const Reader& reader) {
  std::vector<std::pair<std::string, ArrowOptions>> options(5);
  options[0] = {" of 3", {}};
  options[0].second.batch_rows = 3;
  options[1] = {" any order", {}};
  options[1].second.any_order = true;
  options[2] = {" samples", {}};
  options[2].second.count = CountBy::kSamples;
  options[2].second.idle = IdleSamples::kKeep;
  const auto range = reader.time_range();
  if (range && *range) {
    const std::uint64_t middle = (*range)->from_ns + ((*range)->to_ns - (*range)->from_ns) / 2;
    options[3] = {" first half", {}};
    options[3].second.to_ns = middle;
    options[4] = {" second half", {}};
    options[4].second.from_ns = middle;
  }
  for (const char* const by :
       {"module", "line", "process", "thread", "event", "callstack", "source", "type", "cgroup",
        "package", "waker", "reason", "nothing"}) {
    options.emplace_back(std::string(" by ") + by, ArrowOptions{});
    options.back().second.by = by;
  }
  options.emplace_back(" blocked", ArrowOptions{});
  options.back().second.event = "blocked";
  return options;
}

TEST_SUITE("arrow listing") {
  TEST_CASE("every column of every table is what it was") {
    const ScratchDirectory folder;
    std::string found;
    for (const std::string capture :
         {"tiny.perf.data", "group.perf.data", "branches/loop.perf.data.gz", "tiny.script.txt",
          "sampled.x64.etl", "small.nettrace", "small.netperf", "jfr/java.jfr.gz", "kernel.x64.etl",
          "events.perf.data", "named/words.perf.data"}) {
      const std::string packed = folder.file("packed.spk");
      ConvertOptions options;
      options.force = true;
      options.keep_branches = true;
      const auto report =
          convert(source_folder() + "/testdata/" + capture, packed, options, nullptr);
      REQUIRE_MESSAGE(report.has_value(), message(report.error()));
      auto reader = Reader::open(packed);
      REQUIRE(reader.has_value());
      const auto parts = part_options(**reader);
      const auto tables = ArrowTables::of(std::shared_ptr<const Reader>(std::move(*reader)));
      for (unsigned number = 0; number < kArrowTableCount; ++number) {
        const auto table = static_cast<ArrowTable>(number);
        const std::string name = capture + ' ' + std::string(arrow_table_names()[number]);
        found += name + ' ' + listing_of(*tables, table, {}) + '\n';
        for (const auto& [words, some] : parts) {
          if (table != ArrowTable::kTop && !(some.by.empty() && some.event.empty())) {
            continue;
          }
          found += name + words + ' ' + listing_of(*tables, table, some, kShownOfParts) + '\n';
        }
      }
    }
    check_known_lines(found, "tests/app/arrow_tables.txt");
  }
}

}  // namespace
}  // namespace stackpack::test
