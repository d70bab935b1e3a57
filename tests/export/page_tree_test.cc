// The tree of a page, its measures and its timeline, from samples.
#include "export/html/page_tree.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "export/hand_made_capture.h"
#include "export/html/page_timeline.h"
#include "export/html/sample_survey.h"
#include "export/html/time_rows.h"

using namespace stackpack;
using namespace stackpack::exporting;

namespace {

/// A page of a capture, and what it was made of.
struct MadePage {
  explicit MadePage(const test::HandMadeCapture& capture)
      : view(capture.view()),
        options(all_events()),
        selection(std::move(*query::SampleSelection::create(view, options))),
        job{*selection, options, folder.path(), {}},
        tree(job) {
    REQUIRE(tree.read());
    tree.move_to(content);
  }

  static ExportOptions all_events() {
    ExportOptions options;
    options.all_events = true;
    return options;
  }

  PageTimeline timeline() {
    const Result<SampleSurvey> survey = survey_samples(*selection);
    REQUIRE(survey);
    std::vector<EventMeasures> events;
    for (const PageTree::EventRow& row : tree.events()) {
      events.push_back(row.measures);
    }
    const auto rows = rows_of_events(tree, view.events.size());
    TimelineSource source{*selection, tree, survey->thread_of_track, rows};
    auto made = page_timeline({content, events, selection->time_range(), tree.samples()},
                              [&](const TakeSource& take) { return take(source); });
    REQUIRE(made);
    REQUIRE(made->has_value());
    return **made;
  }

  [[nodiscard]] std::string name_of(std::uint32_t node) const {
    const PageFunction& function = content.functions[content.node_functions[node]];
    return node == 0 ? "" : function.named ? function.name : std::to_string(function.offset);
  }
  /// Functions from the root down, by ';'.
  [[nodiscard]] std::string path_of(std::uint32_t node) const {
    const std::string above = node == 0 || content.parents[node] == 0
                                  ? std::string()
                                  : path_of(content.parents[node]) + ";";
    return above + name_of(node);
  }

  test::TemporaryDirectory folder;
  query::CaptureView view;
  ExportOptions options;
  std::unique_ptr<query::SampleSelection> selection;
  ExportJob job;
  PageTree tree;
  PageContent content;
};

std::vector<std::string> texts_of(const std::vector<PageMeasure>& measures) {
  std::vector<std::string> texts;
  for (const PageMeasure& measure : measures) {
    texts.push_back(measure.name + " in " + measure.unit);
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace

TEST_CASE("pages: counts are samples, weights have the unit of their event") {
  test::HandMadeCapture capture;
  capture.tables.events = {{"cpu-clock", true}, {"page-faults", true}, {"alloc_space", true}};
  capture.tables.metadata.push_back({std::string(query::kUnitKey) + "alloc_space", "bytes"});
  capture.add_thread(1, 1, "app");
  capture.add_module(1, 0x1000, 0x1000, "/bin/app");
  const StackId stack = capture.add_stack({test::user(0x1010)});
  for (std::uint32_t event = 0; event < 3; ++event) {
    StoredSample& sample = capture.add_sample(1000 + event, 1, 1, stack);
    sample.event = event;
    sample.weight = 10 + event;
  }
  const MadePage page(capture);
  CHECK(texts_of(page.content.measures) ==
        std::vector<std::string>{"alloc_space in bytes", "alloc_space in samples",
                                 "cpu-clock in ns", "cpu-clock in samples",
                                 "page-faults in page-faults", "page-faults in samples"});
  for (const PageTree::EventRow& row : page.tree.events()) {
    REQUIRE(row.measures.count);
    REQUIRE(row.measures.weight);
    CHECK(page.content.measures[*row.measures.count].unit == "samples");
    CHECK(page.content.self.front()[*row.measures.count].front().value == 1);
    CHECK(page.content.self.front()[*row.measures.weight].front().value == 10 + row.event);
  }
}

namespace {

/// Samples of one thread, leaves of one caller, at irregular times; more than a timeline has rows.
struct Irregular {
  static constexpr std::uint32_t kLeaves = 12'000;
  static constexpr std::uint32_t kSamples = 1'200'000;
  static constexpr std::uint64_t kStart = 12'345;

  Irregular() {
    capture.tables.events = {{"cpu-clock", true}};
    capture.add_thread(1, 1, "app");
    capture.add_module(1, 0x1000, 0x100000, "/bin/app");
    std::vector<StackId> stacks;
    for (std::uint32_t leaf = 0; leaf < kLeaves; ++leaf) {
      stacks.push_back(capture.add_stack({test::user(0x2000 + 16 * leaf), test::user(0x1010)}));
    }
    std::uint32_t random = 1;
    std::uint64_t time = kStart;
    for (std::uint32_t i = 0; i < kSamples; ++i) {
      random = random * 1'664'525 + 1'013'904'223;
      const std::uint32_t high = random >> 16;
      // Every other sample is of one of 60 leaves.
      const std::uint32_t leaf = high % 2 == 0 ? high / 2 % 60 : high / 2 % kLeaves;
      time += random % 1000;
      capture.add_sample(time, 1, 1, stacks[leaf]);
      taken.emplace_back(time, leaf);
      ++samples_of[leaf];
    }
  }

  // Samples by bucket and leaf, or by bucket and kLeaves where the callstack is cut.
  [[nodiscard]] std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> rows(
      std::uint64_t width, double share) const {
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> sums;
    const std::uint64_t first = taken.front().first;
    for (const auto& [time, leaf] : taken) {
      const bool kept = static_cast<double>(samples_of[leaf]) >= share * kSamples;
      ++sums[{(time - first) / width, kept ? leaf : kLeaves}];
    }
    return sums;
  }

  test::HandMadeCapture capture;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> taken;
  std::vector<std::uint64_t> samples_of = std::vector<std::uint64_t>(kLeaves);
};

}  // namespace

TEST_CASE("page timelines: one pass finds the finest resolution that fits, and its sums") {
  const Irregular made;
  MadePage page(made.capture);
  const PageTimeline timeline = page.timeline();
  const std::uint64_t duration = made.taken.back().first - made.taken.front().first;
  // By the plain sums: with whole callstacks, nothing fits that is as fine.
  CHECK(made.rows(round_width(duration, 500), 0).size() > kMostTimeRows);
  CHECK(timeline.resolution.find("below 0.01 %") != std::string::npos);
  REQUIRE(timeline.width_ns == round_width(duration, 1000));
  const auto expected = made.rows(timeline.width_ns, 0.0001);
  REQUIRE(timeline.rows.size() == expected.size());
  std::map<std::pair<std::uint64_t, std::string>, std::uint64_t> found;
  for (const TimeRow& row : timeline.rows) {
    found[{row.bucket, page.path_of(row.node)}] += row.count;
  }
  REQUIRE(found.size() == expected.size());
  // The counts of each bucket, without their names.
  std::map<std::uint64_t, std::vector<std::uint64_t>> counts_found;
  std::map<std::uint64_t, std::vector<std::uint64_t>> counts_expected;
  for (const auto& [key, count] : found) {
    counts_found[key.first].push_back(count);
  }
  for (const auto& [key, count] : expected) {
    counts_expected[key.first].push_back(count);
  }
  for (auto* const counts : {&counts_found, &counts_expected}) {
    for (auto& [bucket, list] : *counts) {
      std::sort(list.begin(), list.end());
    }
  }
  CHECK(counts_found == counts_expected);
}

TEST_CASE("page timelines: callstacks are cut at the last node with enough of some event") {
  // More rows than fit, in 1,100 leaves of which each has less than a thousandth of the clock.
  constexpr std::uint32_t kLeaves = 1100;
  constexpr std::uint64_t kBuckets = 500;
  test::HandMadeCapture capture;
  capture.tables.events = {{"cpu-clock", true}, {"page-faults", false}};
  capture.add_thread(1, 1, "app");
  capture.add_module(1, 0x1000, 0x100000, "/bin/app");
  std::vector<StackId> stacks;
  for (std::uint32_t leaf = 0; leaf < kLeaves; ++leaf) {
    stacks.push_back(capture.add_stack({test::user(0x2000 + 16 * leaf), test::user(0x1010)}));
  }
  for (std::uint64_t bucket = 0; bucket < kBuckets; ++bucket) {
    for (const StackId stack : stacks) {
      capture.add_sample(1000 + bucket * 1'000'000, 1, 1, stack);
    }
  }
  // One leaf is all of another event, and is kept for it.
  StoredSample& fault = capture.add_sample(1000 + kBuckets * 1'000'000 - 1, 1, 1, stacks[7]);
  fault.event = 1;
  MadePage page(capture);
  const PageTimeline timeline = page.timeline();
  CHECK(timeline.resolution.find("callstacks complete") == std::string::npos);
  std::map<std::string, std::uint64_t> counts;  // by event and path
  for (const TimeRow& row : timeline.rows) {
    counts[std::to_string(row.event) + " " + page.path_of(row.node)] += row.count;
  }
  const std::string caller = page.path_of(1);
  REQUIRE(caller.find(';') == std::string::npos);
  std::vector<std::string> kept;
  for (const auto& [path, count] : counts) {
    kept.push_back(path);
  }
  REQUIRE(kept.size() == 3);
  CHECK(counts["0 " + caller] == (kLeaves - 1) * kBuckets);
  CHECK(kept[1].starts_with("0 " + caller + ";"));
  CHECK(counts[kept[1]] == kBuckets);
  CHECK(kept[2] == "1" + kept[1].substr(1));
  CHECK(counts[kept[2]] == 1);
}
