// Fields find the samples that they belong to, in whatever order samples came.
#include "capture/field_recorder.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "support/random_stacks.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

struct Arrival {
  std::uint64_t time_ns = 0;
  std::uint32_t rank = 0;
  std::uint64_t number = 0;  // of arrival; the address of its fields
  bool marked = false;
};

// Samples in any order of time, two of three with fields, sorted as a file has them.
void check_joined(std::size_t count, std::uint32_t ranks) {
  CAPTURE(count);
  const ScratchDirectory folder;
  Random random(count);
  capture::FieldRecorder recorder;
  recorder.configure(folder.file("."));
  std::vector<Arrival> samples;
  for (std::size_t i = 0; i < count; ++i) {
    samples.push_back({random.below(count / 3 + 1), static_cast<std::uint32_t>(random.below(ranks)),
                       i, random.below(3) != 0});
    FieldRow row;
    row.set(SampleField::kAddress, i);
    if (samples.back().marked) {
      recorder.add(samples.back().time_ns, samples.back().rank, row);
    }
  }
  std::stable_sort(samples.begin(), samples.end(), [](const Arrival& a, const Arrival& b) {
    return std::tie(a.time_ns, a.rank) < std::tie(b.time_ns, b.rank);
  });
  std::size_t marked = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].marked) {
      recorder.place(i);
      ++marked;
    }
  }
  std::size_t found = 0;
  bool right = true;
  std::uint64_t next = 0;
  REQUIRE(recorder.finish([&](const FieldRow& row) {
    right =
        right && row.sample >= next &&
        samples[static_cast<std::size_t>(row.sample)].number == row.value(SampleField::kAddress);
    next = row.sample + 1;
    ++found;
    return Status{};
  }));
  CHECK(right);
  CHECK(found == marked);
}

TEST_SUITE("field recorder") {
  TEST_CASE("field recorder: fields in memory and in scratch belong to their samples") {
    check_joined(5, 1);
    check_joined(1000, 4);
    check_joined(200'000, 3);  // more than stay in memory, of rows and of numbers
  }

  TEST_CASE("field recorder: fields without a sample are an error, none are none") {
    capture::FieldRecorder recorder;
    CHECK(recorder.empty());
    CHECK(recorder.finish([](const FieldRow& /*row*/) { return Status{}; }));
    recorder.add(1, 0, FieldRow());
    CHECK_FALSE(recorder.finish([](const FieldRow& /*row*/) { return Status{}; }));
  }
}

}  // namespace
}  // namespace stackpack::test
