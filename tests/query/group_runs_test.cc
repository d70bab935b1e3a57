#include "query/selection/group_runs.h"

#include <map>
#include <random>

#include <doctest/doctest.h>

using namespace stackpack;
using query::Group;
using query::GroupKey;
using query::GroupRuns;

namespace {

using Expected = std::map<GroupKey, std::pair<std::uint64_t, std::uint64_t>>;

GroupKey random_key(std::mt19937& random) {
  GroupKey key{static_cast<std::uint32_t>(random() % 2), static_cast<StackId>(random() % 300),
               static_cast<std::uint32_t>(random() % 2), static_cast<std::uint32_t>(random() % 8)};
  key.stack = key.stack == 0 ? kNoStack : key.stack;
  return key;
}

// Distinct keys in order, with weights of every kind: a period each, anything, more than 63 bits.
std::vector<Group> random_run(std::mt19937& random, std::size_t count) {
  std::map<GroupKey, Group> groups;
  for (std::size_t i = 0; i < count; ++i) {
    const GroupKey key = random_key(random);
    const std::uint64_t samples = 1 + random() % 1000;
    const std::uint64_t weight = random() % 3 == 0    ? random()
                                 : random() % 50 == 0 ? ~std::uint64_t{0} - random() % 2
                                                      : samples * 122'070;
    groups[key] = {key, samples, weight};
  }
  std::vector<Group> run;
  for (const auto& [key, group] : groups) {
    run.push_back(group);
  }
  return run;
}

void add_up(const std::vector<Group>& run, Expected& expected) {
  for (const Group& group : run) {
    auto& [count, weight] = expected[group.key];
    count += group.count;
    weight = weight > ~std::uint64_t{0} - group.weight ? ~std::uint64_t{0} : weight + group.weight;
  }
}

void check_all(GroupRuns& runs, const Expected& expected, std::size_t at_once) {
  auto next = expected.begin();
  std::vector<Group> groups;
  while (runs.take(at_once, groups)) {
    CHECK(groups.size() <= at_once);
    for (const Group& group : groups) {
      REQUIRE(next != expected.end());
      CHECK(group.key == next->first);
      CHECK(group.count == next->second.first);
      CHECK(group.weight == next->second.second);
      ++next;
    }
  }
  CHECK(next == expected.end());
}

}  // namespace

TEST_CASE("group runs: what was added comes back added up and in order") {
  std::mt19937 random(1);
  GroupRuns runs(std::size_t{1} << 20);
  CHECK(runs.empty());
  for (const std::size_t at_once : {std::size_t{1}, std::size_t{97}, std::size_t{1} << 20}) {
    Expected expected;
    for (int i = 0; i < 9; ++i) {
      const std::vector<Group> run = random_run(random, 1 + random() % 3000);
      CHECK_FALSE(runs.add(run).has_value());
      add_up(run, expected);
    }
    CHECK_FALSE(runs.empty());
    check_all(runs, expected, at_once);
    runs.clear();
    CHECK(runs.empty());
  }
}

TEST_CASE("group runs: beyond the limit the upper part goes, and the lower is complete") {
  std::mt19937 random(2);
  for (const std::size_t limit : {std::size_t{0}, std::size_t{3000}, std::size_t{20'000}}) {
    CAPTURE(limit);
    GroupRuns runs(limit);
    Expected expected;
    GroupKey end{~0U, ~0U, ~0U, ~0U};
    for (int i = 0; i < 60; ++i) {
      std::vector<Group> run = random_run(random, 500);
      std::erase_if(run, [&](const Group& group) { return group.key >= end; });
      if (run.empty()) {
        continue;
      }
      add_up(run, expected);
      if (const auto thrown_out = runs.add(run)) {
        CHECK(*thrown_out < end);
        end = *thrown_out;
      }
    }
    CHECK(end.event < 2);
    CHECK(expected.begin()->first < end);
    expected.erase(expected.lower_bound(end), expected.end());
    check_all(runs, expected, 100);
  }
}

TEST_CASE("group runs: groups that fit once they are added up stay") {
  std::mt19937 random(3);
  GroupRuns runs(8000);
  const std::vector<Group> run = random_run(random, 200);
  Expected expected;
  for (int i = 0; i < 50; ++i) {
    CHECK_FALSE(runs.add(run).has_value());
    add_up(run, expected);
  }
  check_all(runs, expected, 1000);
}
