#include "capture/loss_counters.h"

#include <doctest/doctest.h>

using stackpack::LossKind;
using stackpack::capture::LossCounters;

TEST_CASE("loss counters: the lowest offset stays, a zero count is known but no loss") {
  LossCounters counters;
  counters.add("cut_records", LossKind::kDamage, 0);
  CHECK_FALSE(counters.any_loss());
  REQUIRE(counters.sorted().size() == 1);
  counters.add("cut_records", LossKind::kDamage, 2, 100);
  counters.add("cut_records", LossKind::kDamage, 3, 50);
  counters.add("cut_records", LossKind::kDamage, 1, 200);
  CHECK(counters.count("cut_records") == 6);
  CHECK(counters.sorted()[0].first_offset == 50);
  CHECK(counters.any_loss());
}

TEST_CASE("loss counters: notices are no losses; rows come sorted by name") {
  LossCounters counters;
  counters.add("b", LossKind::kNotice, 1);
  counters.set("a", LossKind::kRecorder, 0);
  CHECK_FALSE(counters.any_loss());
  CHECK(counters.sorted()[0].name == "a");
  counters.set("a", LossKind::kRecorder, 7, 12);
  CHECK(counters.any_loss());
  CHECK(counters.sorted()[0].first_offset == 12);
}
