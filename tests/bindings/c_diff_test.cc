#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "stackpack/c_api.h"
#include "stackpack/diff.h"
#include "support/spk_reading.h"

namespace stackpack::test {
namespace {

std::string_view view_of_text(const stackpack_text& text) {
  return text.size == 0 ? std::string_view() : std::string_view(text.data, text.size);
}

TEST_SUITE("c api of comparisons") {
  TEST_CASE("c api: a comparison is that of C++") {
    const std::vector<std::byte> file = spk_bytes(random_content(3, 100, 5000));
    const std::vector<std::byte> other = spk_bytes(random_content(3, 100, 9000));
    std::array<stackpack_reader*, 2> readers{};
    REQUIRE(stackpack_open_memory(file.data(), file.size(), 0, &readers[0]) == STACKPACK_OK);
    REQUIRE(stackpack_open_memory(other.data(), other.size(), 0, &readers[1]) == STACKPACK_OK);
    stackpack_diff_options options{};
    stackpack_diff* diff = nullptr;
    CHECK(stackpack_compare(&readers[0], 1, &readers[1], 1, &options, &diff) == STACKPACK_USAGE);
    options.struct_size = sizeof options;
    options.event = "cpu-clock";
    for (const std::uint32_t beyond : {1U, 2U, 254U, ~0U - STACKPACK_BY_CALLSTACK}) {
      CAPTURE(beyond);
      stackpack_diff_options unknown = options;
      unknown.grain = STACKPACK_BY_CALLSTACK + beyond;
      CHECK(stackpack_compare(&readers[0], 1, &readers[1], 1, &unknown, &diff) == STACKPACK_USAGE);
      unknown.grain = options.grain;
      unknown.unit = STACKPACK_PER_RUN + std::min(beyond, ~0U - STACKPACK_PER_RUN);
      CHECK(stackpack_compare(&readers[0], 1, &readers[1], 1, &unknown, &diff) == STACKPACK_USAGE);
    }
    CHECK(diff == nullptr);
    REQUIRE(stackpack_compare(&readers[0], 1, &readers[1], 1, &options, &diff) == STACKPACK_OK);
    stackpack_diff_options of_cost = options;
    of_cost.unit = STACKPACK_PER_RUN;
    stackpack_diff* cost = nullptr;
    REQUIRE(stackpack_compare(&readers[0], 1, &readers[1], 1, &of_cost, &cost) == STACKPACK_OK);
    stackpack_event_diff whole{};
    whole.struct_size = sizeof whole;
    REQUIRE(stackpack_get_event_diff(cost, 0, &whole) == STACKPACK_OK);
    CHECK(whole.has_whole == 1);
    CHECK(whole.doubts == 0);
    CHECK(whole.whole.old_share > 0);
    CHECK(whole.whole.new_share > whole.whole.old_share);
    CHECK(view_of_text(whole.work) == "run");
    CHECK_FALSE(view_of_text(whole.measure).empty());
    stackpack_free_diff(cost);

    const std::array work = {2.0, 4.0};
    const std::array<const char*, 2> names = {"none", "nothing"};
    of_cost.work = "request";
    of_cost.work_of_files = work.data();
    of_cost.work_count = work.size();
    of_cost.renames = names.data();
    of_cost.rename_count = 1;
    REQUIRE(stackpack_compare(&readers[0], 1, &readers[1], 1, &of_cost, &cost) == STACKPACK_OK);
    stackpack_event_diff each{};
    each.struct_size = sizeof each;
    REQUIRE(stackpack_get_event_diff(cost, 0, &each) == STACKPACK_OK);
    CHECK(view_of_text(each.work) == "request");
    CHECK(each.whole.old_share == doctest::Approx(whole.whole.old_share / 2));
    CHECK(each.whole.new_share == doctest::Approx(whole.whole.new_share / 4));
    stackpack_free_diff(cost);
    const auto refused = [&](auto change) {
      stackpack_diff_options changed = of_cost;
      change(changed);
      stackpack_diff* none = nullptr;
      CHECK(stackpack_compare(&readers[0], 1, &readers[1], 1, &changed, &none) == STACKPACK_USAGE);
    };
    refused([](stackpack_diff_options& of) { of.work_of_files = nullptr; });
    refused([](stackpack_diff_options& of) { of.work_count = 1; });
    refused([](stackpack_diff_options& of) { of.renames = nullptr; });
    refused([](stackpack_diff_options& of) { of.unit = STACKPACK_PER_MEASURE; });
    refused([](stackpack_diff_options& of) { of.runs_by = "no such event"; });
    const std::array<const char*, 2> half = {"none", nullptr};
    refused([&half](stackpack_diff_options& of) { of.renames = half.data(); });
    stackpack_close(readers[0]);
    stackpack_close(readers[1]);

    const auto before = open_spk(file);
    const auto after = open_spk(other);
    const auto expected = compare_profiles(std::array<const Reader*, 1>{before.get()},
                                           std::array<const Reader*, 1>{after.get()}, {});
    REQUIRE(expected.has_value());
    const EventDiff& event = expected->events.front();
    REQUIRE(stackpack_diff_event_count(diff) == 1);
    stackpack_event_diff found{};
    found.struct_size = sizeof found;
    REQUIRE(stackpack_get_event_diff(diff, 0, &found) == STACKPACK_OK);
    CHECK(view_of_text(found.event) == "cpu-clock");
    CHECK(found.old_samples == event.old_side.samples);
    CHECK(found.level == event.level);
    CHECK(found.has_whole == 0);
    REQUIRE(found.rows == event.rows.size());
    for (std::size_t i = 0; i < found.rows; ++i) {
      stackpack_diff_row row{};
      row.struct_size = sizeof row;
      REQUIRE(stackpack_get_diff_row(diff, 0, i, &row) == STACKPACK_OK);
      CHECK(view_of_text(row.name) == event.rows[i].name);
      CHECK(row.self.p == event.rows[i].self.p);
      CHECK(row.total.low == event.rows[i].total.low);
      CHECK(row.total.verdict == static_cast<std::uint64_t>(event.rows[i].total.verdict));
    }
    std::uint32_t outcome = 9;
    std::size_t findings = 9;
    REQUIRE(stackpack_check_gate(diff, "share +99pp", nullptr, &outcome, &findings) ==
            STACKPACK_OK);
    CHECK(outcome == STACKPACK_PASSED);
    CHECK(findings == 0);
    CHECK(stackpack_check_gate(diff, "share", nullptr, &outcome, &findings) == STACKPACK_USAGE);
    CHECK(stackpack_get_event_diff(diff, 1, &found) == STACKPACK_USAGE);
    stackpack_diff_row row{};
    CHECK(stackpack_get_diff_row(diff, 0, found.rows, &row) == STACKPACK_USAGE);
    CHECK(stackpack_compare(nullptr, 1, nullptr, 0, nullptr, &diff) == STACKPACK_USAGE);
    stackpack_free_diff(diff);
    stackpack_free_diff(nullptr);
  }

  TEST_CASE("c api: every option compares as that of C++") {
    struct Change {
      const char* name;
      void (*in_c)(stackpack_diff_options&);
      void (*in_cpp)(DiffOptions&);
    };
    const std::vector<Change> changes = {
        {"none", [](auto&) {}, [](auto&) {}},
        {"module", [](auto& c) { c.grain = STACKPACK_BY_MODULE; },
         [](auto& cpp) { cpp.by = DiffGrain::kModule; }},
        {"line", [](auto& c) { c.grain = STACKPACK_BY_LINE; },
         [](auto& cpp) { cpp.by = DiffGrain::kLine; }},
        {"callstack", [](auto& c) { c.grain = STACKPACK_BY_CALLSTACK; },
         [](auto& cpp) { cpp.by = DiffGrain::kCallstack; }},
        {"weight", [](auto& c) { c.unit = STACKPACK_PER_WEIGHT; },
         [](auto& cpp) { cpp.unit = DiffUnit::kWeight; }},
        {"time", [](auto& c) { c.unit = STACKPACK_PER_TIME; },
         [](auto& cpp) { cpp.unit = DiffUnit::kTime; }},
        {"samples", [](auto& c) { c.unit = STACKPACK_PER_SAMPLES; },
         [](auto& cpp) { cpp.unit = DiffUnit::kSamples; }},
        {"run", [](auto& c) { c.unit = STACKPACK_PER_RUN; },
         [](auto& cpp) { cpp.unit = DiffUnit::kRun; }},
        {"all events", [](auto& c) { c.all_events = 1; }, [](auto& cpp) { cpp.all_events = true; }},
        {"event", [](auto& c) { c.event = "cpu*"; },
         [](auto& cpp) { cpp.filter.events = {"cpu*"}; }},
        {"whole", [](auto& c) { c.whole = "*"; }, [](auto& cpp) { cpp.whole = "*"; }},
        {"mistakes", [](auto& c) { c.mistakes = 0.3; }, [](auto& cpp) { cpp.rate = 0.3; }},
        {"variation", [](auto& c) { c.run_variation = 0.7; },
         [](auto& cpp) { cpp.run_variation = 0.7; }},
        {"no variation", [](auto& c) { c.run_variation = -1; },
         [](auto& cpp) { cpp.run_variation = 0; }},
        {"single runs", [](auto& c) { c.accept_single_run = 1; },
         [](auto& cpp) { cpp.accept_single_run = true; }}};
    const std::vector<std::byte> old_file = spk_bytes(random_content(3, 100, 5000));
    const std::vector<std::byte> new_file = spk_bytes(random_content(4, 100, 9000));
    std::array<stackpack_reader*, 2> readers{};
    REQUIRE(stackpack_open_memory(old_file.data(), old_file.size(), 0, &readers[0]) ==
            STACKPACK_OK);
    REQUIRE(stackpack_open_memory(new_file.data(), new_file.size(), 0, &readers[1]) ==
            STACKPACK_OK);
    const auto before = open_spk(old_file);
    const auto after = open_spk(new_file);
    for (const Change& change : changes) {
      CAPTURE(change.name);
      stackpack_diff_options options{};
      options.struct_size = sizeof options;
      change.in_c(options);
      DiffOptions same;
      change.in_cpp(same);
      const auto expected = compare_profiles(std::array<const Reader*, 1>{before.get()},
                                             std::array<const Reader*, 1>{after.get()}, same);
      stackpack_diff* diff = nullptr;
      const stackpack_status status =
          stackpack_compare(&readers[0], 1, &readers[1], 1, &options, &diff);
      REQUIRE((status == STACKPACK_OK) == expected.has_value());
      if (!expected) {
        continue;
      }
      REQUIRE(stackpack_diff_event_count(diff) == expected->events.size());
      for (std::size_t e = 0; e < expected->events.size(); ++e) {
        const EventDiff& event = expected->events[e];
        for (std::size_t i = 0; i < event.rows.size(); ++i) {
          stackpack_diff_row row{};
          row.struct_size = sizeof row;
          REQUIRE(stackpack_get_diff_row(diff, e, i, &row) == STACKPACK_OK);
          const auto check = [](const auto& got, const auto& wanted) {
            CHECK(got.low == wanted.low);
            CHECK(got.high == wanted.high);
            CHECK(got.p == wanted.p);
            CHECK(got.verdict == static_cast<std::uint64_t>(wanted.verdict));
          };
          CHECK(view_of_text(row.name) == event.rows[i].name);
          check(row.self, event.rows[i].self);
          check(row.total, event.rows[i].total);
        }
      }
      stackpack_free_diff(diff);
    }
    stackpack_close(readers[0]);
    stackpack_close(readers[1]);
  }

  TEST_CASE("c api: sums of runs are compared as their captures would be") {
    const std::array<stackpack_counted_run, 4> runs = {{{0, 1'000, 1'000, 1'000},
                                                        {0, 1'010, 1'010, 1'010},
                                                        {1, 1'000, 1'000, 1'000},
                                                        {1, 990, 990, 990}}};
    const std::array<stackpack_counted_function, 2> functions = {
        {{"parse", "app", nullptr}, {"main", nullptr, ""}}};
    std::vector<stackpack_function_count> counts;
    for (std::uint64_t run = 0; run < runs.size(); ++run) {
      counts.push_back({run, 0, run < 2 ? 100 + run : 300 + run, run < 2 ? 100 + run : 300 + run});
      counts.push_back({run, 1, 500, 900});
    }
    stackpack_counted counted{};
    counted.struct_size = sizeof counted;
    counted.event = "cycles";
    counted.runs = runs.data();
    counted.run_count = runs.size();
    counted.functions = functions.data();
    counted.function_count = functions.size();
    counted.counts = counts.data();
    counted.count_count = counts.size();
    stackpack_diff* diff = nullptr;
    REQUIRE(stackpack_compare_counts(&counted, nullptr, &diff) == STACKPACK_OK);
    stackpack_event_diff event{};
    event.struct_size = sizeof event;
    REQUIRE(stackpack_get_event_diff(diff, 0, &event) == STACKPACK_OK);
    CHECK(view_of_text(event.event) == "cycles");
    CHECK(event.old_samples == 2'010);
    REQUIRE(event.rows == 2);
    stackpack_diff_row row{};
    row.struct_size = sizeof row;
    REQUIRE(stackpack_get_diff_row(diff, 0, 0, &row) == STACKPACK_OK);
    CHECK(view_of_text(row.name) == "parse");
    CHECK(view_of_text(row.module) == "app");
    CHECK(row.self.verdict == STACKPACK_MORE);
    CHECK(row.self.old_share == doctest::Approx(201.0 / 2'010));
    CHECK(row.self.low > 0.1);
    REQUIRE(stackpack_get_diff_row(diff, 0, 1, &row) == STACKPACK_OK);
    CHECK(row.total.new_share == doctest::Approx(1'800.0 / 1'990));
    stackpack_free_diff(diff);

    diff = nullptr;
    const auto refused = [&](const stackpack_counted& wrong) {
      return stackpack_compare_counts(&wrong, nullptr, &diff) == STACKPACK_USAGE && diff == nullptr;
    };
    CHECK(stackpack_compare_counts(nullptr, nullptr, &diff) == STACKPACK_USAGE);
    CHECK(stackpack_compare_counts(&counted, nullptr, nullptr) == STACKPACK_USAGE);
    stackpack_counted wrong = counted;
    wrong.struct_size = 0;
    CHECK(refused(wrong));
    wrong = counted;
    wrong.functions = nullptr;
    CHECK(refused(wrong));
    wrong = counted;
    wrong.run_count = 2;  // one side, and counts of others
    CHECK(refused(wrong));
    wrong.count_count = 4;
    CHECK(refused(wrong));
    for (const stackpack_function_count& bad :
         {stackpack_function_count{9, 0, 1, 1}, {0, 9, 1, 1}, {0, 0, 2'000, 2'000}, {0, 0, 2, 1}}) {
      const stackpack_function_count kept = std::exchange(counts.front(), bad);
      CHECK(refused(counted));
      counts.front() = kept;
    }
  }
}

}  // namespace
}  // namespace stackpack::test
