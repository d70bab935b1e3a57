// Every column of every table of small captures: parts add up to the whole, and the figures of the
// whole are those of arrow_tables.txt, a line for each capture.
#include <algorithm>
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

// The rows of a table, or what is said instead.
std::vector<std::string> rows_of(const ArrowTables& tables, ArrowTable table,
                                 const ArrowOptions& options) {
  OwnedStream out;
  const Status made = tables.stream(table, options, &out.stream);
  if (!made) {
    return {message(made.error())};
  }
  const ArrowContent content = read_arrow(out.stream);
  std::vector<std::string> rows;
  for (std::size_t row = 0; row < content.rows(); ++row) {
    rows.push_back(row_text(content, row));
  }
  if (!content.error.empty()) {
    rows.push_back(content.error);
  }
  return rows;
}

std::vector<std::string> sorted(std::vector<std::string> rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::string figures_of(const std::vector<std::string>& rows) {
  AnswerFigures figures;
  for (const std::string& row : rows) {
    figures.add(row);
  }
  return figures.text();
}

// The same rows however many come at a time; in any order, the same ones.
void check_batches(const ArrowTables& tables, ArrowTable table,
                   const std::vector<std::string>& whole) {
  ArrowOptions few;
  few.batch_rows = 3;
  CHECK(rows_of(tables, table, few) == whole);
  ArrowOptions shuffled;
  shuffled.any_order = true;
  CHECK(sorted(rows_of(tables, table, shuffled)) == sorted(whole));
}

// Every sample is in one of two parts of the time that meet.
void check_halves(const Reader& reader, const ArrowTables& tables) {
  const auto range = reader.time_range();
  if (!range || !*range) {
    return;
  }
  const std::uint64_t middle = (*range)->from_ns + ((*range)->to_ns - (*range)->from_ns) / 2;
  ArrowOptions before;
  before.to_ns = middle;
  ArrowOptions after;
  after.from_ns = middle + 1;
  std::vector<std::string> both = rows_of(tables, ArrowTable::kSamples, before);
  const std::vector<std::string> rest = rows_of(tables, ArrowTable::kSamples, after);
  both.insert(both.end(), rest.begin(), rest.end());
  CHECK(both == rows_of(tables, ArrowTable::kSamples, {}));
}

std::string figures_of_grains(const ArrowTables& tables) {
  std::string text;
  for (const char* const by :
       {"module", "line", "process", "thread", "event", "callstack", "source", "type", "cgroup",
        "package", "waker", "reason", "nothing"}) {
    ArrowOptions options;
    options.by = by;
    text +=
        std::string("; by ") + by + ' ' + figures_of(rows_of(tables, ArrowTable::kTop, options));
  }
  ArrowOptions samples;
  samples.count = CountBy::kSamples;
  samples.idle = IdleSamples::kKeep;
  text += "; samples " + figures_of(rows_of(tables, ArrowTable::kTop, samples));
  ArrowOptions blocked;
  blocked.event = "blocked";
  return text + "; blocked " + figures_of(rows_of(tables, ArrowTable::kTop, blocked));
}

TEST_SUITE("arrow listing") {
  TEST_CASE("every column of every table: parts are the whole, which is what it was") {
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
      const auto tables = ArrowTables::of(std::shared_ptr<const Reader>(std::move(*reader)));
      const auto again = Reader::open(packed);
      REQUIRE(again.has_value());
      check_halves(**again, *tables);
      found += capture;
      for (unsigned number = 0; number < kArrowTableCount; ++number) {
        const auto table = static_cast<ArrowTable>(number);
        const std::vector<std::string> whole = rows_of(*tables, table, {});
        check_batches(*tables, table, whole);
        if (!whole.empty()) {
          found += "; " + std::string(arrow_table_names()[number]) + ' ' + figures_of(whole);
        }
      }
      found += figures_of_grains(*tables) + '\n';
    }
    check_known_lines(found, "tests/app/arrow_tables.txt");
  }
}

}  // namespace
}  // namespace stackpack::test
