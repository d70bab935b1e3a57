// Control groups get the same places in a file, in whatever order they turn up.
#include "capture/control_group_table.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack {

TEST_CASE("control groups: sorted by path and id, with the numbers that were given") {
  capture::ControlGroupTable table;
  CHECK(table.number_of(9) == 0U);
  table.set_path(5, "/web");
  CHECK(table.number_of(5) == 1U);
  table.set_path(9, "/job");
  table.set_path(9, "/later");
  CHECK(table.number_of(7) == 2U);
  const auto sorted = table.sorted();
  CHECK(sorted.rows == std::vector<ControlGroup>{{7, ""}, {9, "/job"}, {5, "/web"}});
  CHECK(sorted.numbers == std::vector<std::uint32_t>{1, 2, 0});
}

TEST_CASE("control groups: of one id and two paths, two; user names are replaced where asked for") {
  capture::ControlGroupTable table;
  CHECK(table.number_of(ControlGroup{1, "/home/mary/job"}) == 0U);
  CHECK(table.number_of(ControlGroup{1, "/b"}) == 1U);
  CHECK(table.number_of(ControlGroup{1, "/home/mary/job"}) == 0U);
  table.set_redaction(true);
  CHECK(table.sorted().rows == std::vector<ControlGroup>{{1, "/b"}, {1, "/home/USER/job"}});
}

TEST_CASE("control groups: one too many of a capture has no number") {
  capture::ControlGroupTable table;
  for (std::uint64_t id = 0; id < capture::ControlGroupTable::kMostOfCapture; ++id) {
    table.number_of(id);
  }
  CHECK(!table.number_of(~std::uint64_t{0}));
  CHECK(!table.set_path(~std::uint64_t{0}, "/one/more"));
  CHECK(table.number_of(5) == 5U);
  CHECK(table.sorted().rows.size() == capture::ControlGroupTable::kMostOfCapture);
}

TEST_CASE("control groups: paths of a capture take no more than 16 MiB") {
  capture::ControlGroupTable table;
  const std::string half(capture::ControlGroupTable::kMostPathBytes / 2, 'a');
  CHECK(table.set_path(1, half));
  CHECK(table.set_path(1, "/the first one stays"));
  CHECK(table.set_path(2, half));
  CHECK(!table.set_path(3, "/"));
  const auto rows = table.sorted().rows;
  CHECK(rows == std::vector<ControlGroup>{{3, ""}, {1, half}, {2, half}});
}

}  // namespace stackpack
