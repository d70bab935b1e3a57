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

std::string listing_of(const ArrowTables& tables, ArrowTable table, const ArrowOptions& options) {
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
  return std::to_string(content.rows()) + ' ' + digest_of(all) + ' ' + first.substr(0, kShownBytes);
}

TEST_SUITE("arrow listing") {
  TEST_CASE("every column of every table is what it was") {
    const ScratchDirectory folder;
    std::string found;
    for (const std::string capture :
         {"tiny.perf.data", "group.perf.data", "branches/loop.perf.data.gz", "tiny.script.txt",
          "sampled.x64.etl", "small.nettrace", "small.netperf", "jfr/java.jfr.gz"}) {
      const std::string packed = folder.file("packed.spk");
      ConvertOptions options;
      options.force = true;
      options.keep_branches = true;
      const auto report =
          convert(source_folder() + "/testdata/" + capture, packed, options, nullptr);
      REQUIRE_MESSAGE(report.has_value(), message(report.error()));
      auto reader = Reader::open(packed);
      REQUIRE(reader.has_value());
      const auto tables = ArrowTables::of(std::shared_ptr<const Reader>(std::move(*reader)));
      for (unsigned number = 0; number < kArrowTableCount; ++number) {
        const auto table = static_cast<ArrowTable>(number);
        const std::string name = capture + ' ' + std::string(arrow_table_names()[number]);
        found += name + ' ' + listing_of(*tables, table, {}) + '\n';
      }
    }
    check_known_lines(found, "tests/app/arrow_tables.txt");
  }
}

}  // namespace
}  // namespace stackpack::test
