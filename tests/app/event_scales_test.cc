#include "app/convert/event_scales.h"

#include <doctest/doctest.h>

using namespace stackpack;
using app::EventScales;

namespace {

EventScales scales_of(const std::vector<Event>& events) {
  EventScales scales;
  for (std::size_t i = 0; i < events.size(); ++i) {
    scales.add_row();
  }
  return scales;
}

Sample scaled(EventScales& scales, std::uint32_t event, std::uint64_t weight) {
  Sample sample;
  sample.event = event;
  sample.weight = weight;
  scales.apply(sample);
  return sample;
}

}  // namespace

TEST_CASE("scales: rows of one event become one with the most digits that occur") {
  std::vector<Event> events{
      {"a", true}, {"b", true}, {"a*10^-2", true}, {"a*10^-1", true}, {"a", false}};
  EventScales scales = scales_of(events);
  scales.add_weight(0, 3);
  scales.add_weight(1, 5);
  scales.add_weight(2, 25);
  scales.add_weight(3, 15);
  scales.settle(events);
  REQUIRE(scales.any());
  CHECK(events == std::vector<Event>{{"a", true}, {"b", true}, {"a", false}});
  CHECK(scaled(scales, 0, 3).weight == 300);
  CHECK(scaled(scales, 2, 25).weight == 25);
  CHECK(scaled(scales, 3, 15).weight == 150);
  CHECK(scaled(scales, 3, 15).event == 0);
  CHECK(scaled(scales, 1, 5).weight == 5);
  CHECK(scaled(scales, 1, 5).event == 1);
  CHECK(scaled(scales, 4, 1).event == 2);
  CHECK(scales.rounded() == 0);
  std::vector<MetadataEntry> metadata{{"pprof.unit.b", "bytes"}};
  scales.mark_units(metadata);
  CHECK(metadata ==
        std::vector<MetadataEntry>{{"pprof.unit.a", "count*10^-2"}, {"pprof.unit.b", "bytes"}});
}

TEST_CASE("scales: a row without samples gives no digits, and whole weights stay as they are") {
  std::vector<Event> events{{"a", true}, {"a*10^-4", true}};
  EventScales scales = scales_of(events);
  scales.add_weight(0, 3);
  scales.settle(events);
  CHECK(events == std::vector<Event>{{"a", true}});
  CHECK(scaled(scales, 0, 3).weight == 3);
  std::vector<MetadataEntry> metadata;
  scales.mark_units(metadata);
  CHECK(metadata.empty());

  std::vector<Event> whole{{"a", true}, {"a", true}};
  EventScales none = scales_of(whole);
  none.settle(whole);
  CHECK(!none.any());
  CHECK(whole.size() == 2);
}

TEST_CASE("scales: digits for which a sum has no room are rounded and counted") {
  std::vector<Event> events{{"a", true}, {"a*10^-9", true}};
  EventScales scales = scales_of(events);
  scales.add_weight(0, 1'000'000'000'000'000);  // has room for three digits
  scales.add_weight(1, 1'234'567'890);
  scales.settle(events);
  std::vector<MetadataEntry> metadata{{"pprof.unit.a", "bytes*10^-9"}};
  scales.mark_units(metadata);
  CHECK(metadata == std::vector<MetadataEntry>{{"pprof.unit.a", "bytes*10^-3"}});
  CHECK(scaled(scales, 0, 7).weight == 7'000);
  CHECK(scaled(scales, 1, 1'234'567'890).weight == 1'235);
  CHECK(scaled(scales, 1, 2'000'000'000).weight == 2'000);
  CHECK(scales.rounded() == 1);
}
