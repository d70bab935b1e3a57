#include "app/listing/ratios.h"

#include <doctest/doctest.h>

namespace stackpack::app {

TEST_SUITE_BEGIN("app.ratios");

TEST_CASE("figures follow from the counts") {
  Statistics statistics;
  statistics.source_bytes = 4000;
  statistics.samples.total = 50;
  statistics.callstacks.raw_frames = 1000;
  statistics.callstacks.unique_frames = 100;
  statistics.dag.nodes = 40;
  statistics.dag.stored_bytes = 50;
  statistics.sample_stream_bytes = 150;
  statistics.builder.lookups = 10;
  statistics.builder.probes = 15;
  statistics.builder.frames = 1000;
  statistics.builder.prefix_frames = 750;
  const DerivedFigures figures = derive(statistics, 250);
  CHECK(figures.raw_bytes == 8000);
  CHECK(figures.unique_bytes == 800);
  CHECK(figures.dedup_ratio == 10);
  CHECK(figures.dag_ratio == 16);
  CHECK(figures.total_ratio == 160);
  CHECK(figures.file_ratio == 16);
  CHECK(figures.bytes_per_node_stored == 1.25);
  CHECK(figures.bytes_per_sample == 3);
  CHECK(figures.probes_per_lookup == 1.5);
  CHECK(figures.prefix_saved_percent == 75);
  CHECK(derive(Statistics{}, 0).total_ratio == 0);
}

TEST_CASE("totals add what can be added") {
  Statistics first;
  first.source_kind = "perf";
  first.samples.total = 3;
  first.callstacks.max_depth = 9;
  first.events = {{"cpu-clock", 3}};
  first.losses = {{"b", LossKind::kDamage, 1, 77}};
  first.source_skipped_by_reason = {{"d", 5}};
  Statistics second;
  second.source_kind = "etl";
  second.samples.total = 4;
  second.callstacks.max_depth = 5;
  second.events = {{"faults", 1}, {"cpu-clock", 3}};
  second.losses = {{"a", LossKind::kRecorder, 5, 1}, {"b", LossKind::kDamage, 2, 3}};
  second.source_skipped_by_reason = {{"c", 7}, {"d", 1}};

  Statistics sum;
  add_statistics(sum, first);
  CHECK(sum.source_kind == "perf");
  add_statistics(sum, second);
  CHECK(sum.source_kind == "mixed");
  CHECK(sum.samples.total == 7);
  CHECK(sum.callstacks.max_depth == 9);
  REQUIRE(sum.source_skipped_by_reason.size() == 2);
  CHECK(sum.source_skipped_by_reason[0].reason == "c");
  CHECK(sum.source_skipped_by_reason[0].bytes == 7);
  CHECK(sum.source_skipped_by_reason[1].bytes == 6);
  REQUIRE(sum.events.size() == 2);
  CHECK(sum.events[0].name == "cpu-clock");
  CHECK(sum.events[0].samples == 6);
  REQUIRE(sum.losses.size() == 2);
  CHECK(sum.losses[0] == LossCounter{"a", LossKind::kRecorder, 5, ~std::uint64_t{0}});
  CHECK(sum.losses[1] == LossCounter{"b", LossKind::kDamage, 3, ~std::uint64_t{0}});
}

TEST_SUITE_END();

}  // namespace stackpack::app
