// Where, by what and how long a capture was recorded, and samples by process.
#include "app/listing/capture_facts.h"

#include <doctest/doctest.h>

#include "support/spk_reading.h"

namespace stackpack::test {
namespace {

SpkContent content_of_three_processes() {
  SpkContent content = random_content(1, 5, 0);
  content.tables.processes = {{7, 1, kUnknownTime, 40, false, "before", ""},
                              {7, 1, 40, kUnknownTime, false, "after", ""},
                              {9, 1, kUnknownTime, kUnknownTime, false, "busy", ""}};
  content.tables.metadata = {{"command_line", "perf record -a"}, {"host.name", "machine"}};
  content.samples = {{{30, 7, 7, 0, 0, 1, StackOrigin::kRecorded, 0}, 0},
                     {{35, 9, 9, 0, 0, 1, StackOrigin::kRecorded, 0}, 1},
                     {{50, 9, 9, 1, 0, 1, StackOrigin::kNone, 0}, kNoStack},
                     {{90, kUnknownId, 1, 0, 0, 1, StackOrigin::kRecorded, 0}, 0}};
  return content;
}

TEST_SUITE("app.capture_facts") {
  TEST_CASE("capture facts: host, command, times; processes only when asked for") {
    const auto file = spk_bytes(content_of_three_processes());
    const auto reader = open_spk(file);
    const auto facts = app::capture_facts(*reader, {}, false);
    REQUIRE(facts.has_value());
    CHECK(facts->host == "machine");
    CHECK(facts->command == "perf record -a");
    REQUIRE(facts->times.has_value());
    CHECK(facts->times->from_ns == 30);
    CHECK(facts->times->to_ns == 90);
    CHECK_FALSE(facts->by_process.has_value());
  }

  TEST_CASE("capture facts: processes by samples, then id, with or without the samples") {
    for (const bool samples : {true, false}) {
      CAPTURE(samples);
      spk::WriterOptions options;
      options.samples = samples;
      const auto file = spk_bytes(content_of_three_processes(), options);
      const auto reader = open_spk(file);
      const auto facts = app::capture_facts(*reader, {}, true);
      REQUIRE(facts.has_value());
      CHECK(facts->times.has_value() == samples);
      REQUIRE(facts->by_process.has_value());
      const std::vector<app::ProcessSamples>& rows = *facts->by_process;
      REQUIRE(rows.size() == 3);
      CHECK(rows[0].pid == 9);
      CHECK(rows[0].name == "busy");
      CHECK(rows[0].samples == 2);
      CHECK(rows[1].pid == 7);
      CHECK(rows[1].name == "after");
      CHECK(rows[1].samples == 1);
      CHECK(rows[2].pid == kUnknownId);
      CHECK(rows[2].name.empty());
    }
  }

  TEST_CASE("capture facts: a filter selects what is counted") {
    const auto file = spk_bytes(content_of_three_processes());
    SampleFilter filter;
    filter.pid = 9;
    const auto facts = app::capture_facts(*open_spk(file), filter, true);
    REQUIRE(facts.has_value());
    REQUIRE(facts->by_process->size() == 1);
    CHECK(facts->by_process->front().samples == 2);
  }

  TEST_CASE("capture facts: a capture without samples has no times") {
    SpkContent content = content_of_three_processes();
    content.samples.clear();
    const auto file = spk_bytes(content);
    const auto facts = app::capture_facts(*open_spk(file), {}, true);
    REQUIRE(facts.has_value());
    CHECK_FALSE(facts->times.has_value());
    CHECK(facts->by_process->empty());
  }
}

}  // namespace
}  // namespace stackpack::test
