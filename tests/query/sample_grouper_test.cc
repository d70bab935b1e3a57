#include "query/selection/sample_grouper.h"

#include <algorithm>
#include <map>
#include <random>

#include <doctest/doctest.h>

#include "export/hand_made_capture.h"

using namespace stackpack;
using query::Group;
using query::GroupKey;
using query::SampleGrouper;
using query::SampleSelection;
using test::HandMadeCapture;

namespace {

HandMadeCapture random_capture(unsigned seed) {
  std::mt19937 random(seed);
  HandMadeCapture capture;
  capture.tables.events = {{"a", true}, {"b", false}};
  for (std::uint32_t i = 0; i < 200; ++i) {
    capture.add_stack({test::user(i)});
  }
  for (std::uint32_t pid = 1; pid <= 5; ++pid) {
    capture.add_module(pid, 0, 1000, "/first", kUnknownTime, 700 * pid);
    capture.add_module(pid, 0, 1000, "/second", 700 * pid + 1);
  }
  for (std::uint64_t time = 0; time < 5000; ++time) {
    const StackId stack = random() % 10 == 0 ? kNoStack : static_cast<StackId>(random() % 200);
    const auto pid = static_cast<std::uint32_t>(1 + random() % 5);
    StoredSample& sample =
        capture.add_sample(time, pid, static_cast<std::uint32_t>(pid * 10 + random() % 3), stack);
    sample.event = static_cast<std::uint32_t>(random() % 2);
    sample.weight = random() % 100;
  }
  return capture;
}

}  // namespace

TEST_CASE("grouper: any limit gives the groups of a plain map, in order, each once") {
  std::size_t passes = 0;
  for (const unsigned seed : {1U, 2U, 3U}) {
    CAPTURE(seed);
    const HandMadeCapture capture = random_capture(seed);
    const query::CaptureView view = capture.view();
    ExportOptions options;
    options.all_events = true;
    auto selection = SampleSelection::create(view, options);
    REQUIRE(selection.has_value());
    for (const query::GroupBy by :
         {query::GroupBy{}, query::GroupBy{true, true, true}, query::GroupBy{false, true, false},
          query::GroupBy{true, false, false},
          query::GroupBy{.event = true, .track = true, .stack = false}}) {
      std::map<GroupKey, std::pair<std::uint64_t, std::uint64_t>> expected;
      SampleGrouper whole(**selection, by, 1U << 20);
      REQUIRE((*selection)
                  ->for_each([&](std::span<const query::SelectedSample> block) {
                    for (const auto& sample : block) {
                      auto& [count, weight] = expected[whole.key_of(sample)];
                      ++count;
                      weight += sample.weight;
                    }
                    return Status{};
                  })
                  .has_value());
      for (const std::size_t limit : {std::size_t{2}, std::size_t{100}, std::size_t{1} << 20}) {
        if (limit == 2 && expected.size() > 500) {
          continue;
        }
        CAPTURE(limit);
        SampleGrouper grouper(**selection, by, limit);
        auto next = expected.begin();
        REQUIRE(grouper
                    .for_each([&](std::span<const Group> groups) {
                      CHECK(groups.size() <= limit);
                      for (const Group& group : groups) {
                        REQUIRE(next != expected.end());
                        CHECK(group.key == next->first);
                        CHECK(group.count == next->second.first);
                        CHECK(group.weight == next->second.second);
                        ++next;
                      }
                      return Status{};
                    })
                    .has_value());
        CHECK(next == expected.end());
        CHECK(grouper.passes() <= expected.size() / limit + 1);
        passes = std::max(passes, grouper.passes());
      }
    }
  }
  CHECK(passes > 1);
}

TEST_CASE("grouper: while a block is visited, a sample is found in it or not") {
  const HandMadeCapture capture = random_capture(7);
  const query::CaptureView view = capture.view();
  ExportOptions options;
  options.all_events = true;
  auto selection = SampleSelection::create(view, options);
  REQUIRE(selection.has_value());
  SampleGrouper grouper(**selection, {true, true, true}, 500);
  std::uint64_t found_in_all = 0;
  REQUIRE(grouper
              .for_each([&](std::span<const Group> groups) {
                std::vector<std::uint64_t> seen(groups.size());
                return (*selection)->for_each([&](std::span<const query::SelectedSample> block) {
                  for (const auto& sample : block) {
                    if (const auto at = grouper.find(sample)) {
                      CHECK(groups[*at].key == grouper.key_of(sample));
                      ++found_in_all;
                    }
                  }
                  return Status{};
                });
              })
              .has_value());
  CHECK(found_in_all == capture.samples.size());
}

TEST_CASE("grouper: an error of the visitor ends it") {
  const HandMadeCapture capture = test::small_capture();
  const query::CaptureView view = capture.view();
  ExportOptions options;
  options.all_events = true;
  auto selection = SampleSelection::create(view, options);
  REQUIRE(selection.has_value());
  SampleGrouper grouper(**selection, {true, true, true}, 2);
  int visits = 0;
  const Status status = grouper.for_each([&](std::span<const Group>) {
    ++visits;
    return Status{Error{ErrorCode::kIo, kNoOffset, "full"}};
  });
  CHECK(visits == 1);
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().code == ErrorCode::kIo);
}

TEST_CASE("grouper: groups beyond what one thread sorts are in order, each once") {
  constexpr std::uint32_t kStacks = 70'000;
  HandMadeCapture capture;
  capture.tables.events = {{"a", true}};
  std::vector<std::uint32_t> order(kStacks);
  for (std::uint32_t i = 0; i < kStacks; ++i) {
    capture.add_stack({test::user(i)});
    order[i] = i;
  }
  std::shuffle(order.begin(), order.end(), std::mt19937(4));
  for (std::uint32_t i = 0; i < kStacks; ++i) {
    capture.add_sample(i, 1, 1, order[i]).weight = order[i];
  }
  const query::CaptureView view = capture.view();
  const ExportOptions options;
  auto selection = SampleSelection::create(view, options);
  REQUIRE(selection.has_value());
  SampleGrouper grouper(**selection, query::GroupBy{}, 1U << 20);
  REQUIRE(grouper
              .for_each([&](std::span<const Group> groups) {
                REQUIRE(groups.size() == kStacks);
                for (std::uint32_t i = 0; i < kStacks; ++i) {
                  REQUIRE(groups[i].key.stack == i);
                  REQUIRE(groups[i].weight == i);
                }
                return Status{};
              })
              .has_value());
}
