#include "cli/diff_findings.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "stackpack/diff.h"

namespace stackpack::test {
namespace {

DiffRow line_row(const std::string& name, const std::string& place, DiffVerdict verdict) {
  DiffRow row;
  row.name = name;
  row.place = place;
  row.self.verdict = verdict;
  row.self.old_share = 0.1;
  row.self.new_share = 0.2;
  row.self.difference = 0.1;
  row.self.low = 0.05;
  return row;
}

DiffReport report_of(std::vector<DiffRow> rows) {
  DiffReport report;
  report.events.emplace_back().rows = std::move(rows);
  return report;
}

}  // namespace

TEST_CASE(
    "diff findings: source lines that have grown for sure, by paths of the working directory") {
  const auto lines =
      cli::grown_lines(report_of({line_row("parse", "/src/app/a:b.cc:12", DiffVerdict::kMore),
                                  line_row("new", "/srcs/c.cc:7", DiffVerdict::kAppeared),
                                  line_row("less", "/src/d.cc:3", DiffVerdict::kLess),
                                  line_row("unsure", "/src/d.cc:4", DiffVerdict::kUnsure),
                                  line_row("nowhere", "", DiffVerdict::kMore),
                                  line_row("no line", "/src/d.cc:", DiffVerdict::kMore),
                                  line_row("no number", "/src/d.cc:1x", DiffVerdict::kMore)}),
                       "/src");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].file == "app/a:b.cc");
  CHECK(lines[0].line == 12);
  CHECK(lines[1].file == "/srcs/c.cc");
  std::string text;
  cli::append_annotations(text, {lines[0]});
  CHECK(text ==
        "::warning file=app/a%3Ab.cc,line=12,title=takes more than before::parse: 10.00%25 -> "
        "20.00%25, +10.00pp (+5.00pp at least)\n");
}

TEST_CASE("diff findings: ten lines at most, and none that could end a command") {
  std::vector<DiffRow> rows(20, line_row("f\n::error::x", "a.cc:1", DiffVerdict::kMore));
  const auto lines = cli::grown_lines(report_of(std::move(rows)), "/src");
  CHECK(lines.size() == 10);
  std::string text;
  cli::append_annotations(text, {lines[0]});
  CHECK(text.find('\n') == text.size() - 1);
}

TEST_CASE("diff findings: SARIF has the place of a line") {
  std::string text;
  cli::append_diff_sarif(text, {}, {{"a.cc", 12, "parse"}});
  CHECK(
      text.find(
          R"("physicalLocation":{"artifactLocation":{"uri":"a.cc"},"region":{"startLine":12}})") !=
      std::string::npos);
}

}  // namespace stackpack::test
