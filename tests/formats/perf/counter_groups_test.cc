// Samples that carry the values of a group of counters.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "formats/perf/perf_losses.h"
#include "formats/perf/perf_source.h"
#include "perf_outcome.h"
#include "support/perf_writer.h"

using namespace stackpack;
using test::kContextUser;
using test::PerfWriter;
using test::TestBytes;

namespace {

struct Counter {
  std::uint64_t id;
  std::uint64_t value;
};

// A group of two events with ids 11 and 21, as `perf record -e '{a,b}:S'` sets them up.
std::vector<test::TestAttr> group_of_two(std::uint64_t more_format = 0, std::uint64_t flags = 0) {
  test::TestAttr leader;
  leader.sample_type = perf::sample_bit::kIdentifier | perf::sample_bit::kIp |
                       perf::sample_bit::kTid | perf::sample_bit::kTime |
                       perf::sample_bit::kPeriod | perf::sample_bit::kRead |
                       perf::sample_bit::kCallchain;
  leader.read_format = perf::read_bit::kId | perf::read_bit::kGroup | more_format;
  leader.flags |= flags;
  leader.ids = {11};
  test::TestAttr member = leader;
  member.config = 2;
  member.ids = {21};
  return {leader, member};
}

struct Shape {
  std::uint32_t times = 0;  // words
  bool lost = false;
};

TestBytes group_sample(const PerfWriter& writer, std::uint32_t tid, std::uint64_t time,
                       const std::vector<Counter>& counters, std::uint64_t frame,
                       Shape shape = {}) {
  TestBytes payload = writer.bytes();
  payload.u64(11).u64(frame).u32(5).u32(tid).u64(time).u64(4000);
  payload.u64(counters.size()).zeros(std::size_t{8} * shape.times);
  for (const Counter& counter : counters) {
    payload.u64(counter.value).u64(counter.id);
    if (shape.lost) {
      payload.u64(7);
    }
  }
  payload.u64(2).u64(kContextUser).u64(frame);
  return writer.record(perf::RecordType::kSample, 2, payload);
}

// "event:weight:stack", with a + for a sample of the record before it.
std::vector<std::string> lines_of(const test::PerfOutcome& outcome) {
  std::vector<std::string> lines;
  for (const auto& row : outcome.sink->settled()) {
    lines.push_back(std::to_string(row.sample.event) + ":" + std::to_string(row.sample.weight) +
                    ":" + row.stack + ((row.sample.flags & kSampleSameRecord) != 0 ? " +" : ""));
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("perf groups: every counter that gained something is a sample of its event") {
  for (const bytes::ByteOrder order : {bytes::ByteOrder::kLittle, bytes::ByteOrder::kBig}) {
    for (const bool remembers : {true, false}) {
      CAPTURE(remembers);
      const PerfWriter w(order);
      const auto capture =
          w.pipe(group_of_two(), {group_sample(w, 5, 1, {{11, 100}, {21, 3}}, 0x10),
                                  group_sample(w, 5, 2, {{11, 250}, {21, 3}}, 0x20),
                                  group_sample(w, 5, 3, {{11, 250}, {21, 4}}, 0x20),
                                  group_sample(w, 5, 4, {{11, 251}, {21, 6}}, 0x20)});
      perf::Input input;
      input.main = io::source_of_memory(capture);
      test::PerfOutcome outcome;
      outcome.sink->remembers = remembers;
      const auto read = perf::read_capture(input, *outcome.sink, {});
      REQUIRE(read.has_value());
      CHECK(lines_of(outcome) ==
            Lines{"0:100:u10", "1:3:u10 +", "0:150:u20", "1:1:u20", "0:1:u20", "1:2:u20 +"});
      CHECK_FALSE(outcome.damaged());
      CHECK(outcome.sink->events[1].has_weight);
    }
  }
}

TEST_CASE("perf groups: times and counts of lost samples lie around the values") {
  const PerfWriter w;
  const Shape shape{2, true};
  const auto outcome =
      test::read_perf(w.pipe(group_of_two(perf::read_bit::kTimeEnabled |
                                          perf::read_bit::kTimeRunning | perf::read_bit::kLost),
                             {group_sample(w, 5, 1, {{21, 8}, {11, 9}}, 0x10, shape),
                              group_sample(w, 5, 2, {{21, 9}, {11, 11}}, 0x10, shape)}));
  CHECK(lines_of(outcome) == Lines{"1:8:u10", "0:9:u10 +", "1:1:u10", "0:2:u10 +"});
  CHECK_FALSE(outcome.damaged());
}

TEST_CASE("perf groups: counters of inherited events are counted by thread") {
  const PerfWriter w;
  const auto records = [&] {
    return std::vector<TestBytes>{group_sample(w, 5, 1, {{11, 100}, {21, 1}}, 0x10),
                                  group_sample(w, 6, 2, {{11, 110}, {21, 1}}, 0x20),
                                  group_sample(w, 5, 3, {{11, 130}, {21, 1}}, 0x10)};
  };
  const auto apart = test::read_perf(w.pipe(group_of_two(0, perf::attr_flag::kInherit), records()));
  CHECK(lines_of(apart) == Lines{"0:100:u10", "1:1:u10 +", "0:110:u20", "1:1:u20 +", "0:30:u10"});
  const auto together = test::read_perf(w.pipe(group_of_two(), records()));
  CHECK(lines_of(together) == Lines{"0:100:u10", "1:1:u10 +", "0:10:u20", "0:20:u10"});
}

TEST_CASE("perf groups: a record without counts is no sample, and what cannot be is counted") {
  const PerfWriter w;
  const auto outcome = test::read_perf(
      w.pipe(group_of_two(), {group_sample(w, 5, 1, {{11, 100}, {99, 3}}, 0x10),  // no such event
                              group_sample(w, 5, 2, {{11, 100}, {21, 0}}, 0x20),  // nothing gained
                              group_sample(w, 5, 3, {{11, 90}, {21, 5}}, 0x30),   // goes back
                              group_sample(w, 5, 4, {{11, 95}, {21, 5}}, 0x20)}));
  CHECK(lines_of(outcome) == Lines{"0:100:u10", "1:5:u30", "0:5:u20"});
  CHECK(outcome.count(perf::loss::kUnknownCounterIds) == 1);
  CHECK(outcome.count(perf::loss::kCountersWentBack) == 1);
  CHECK(outcome.count(capture::kRecordsWithoutCounts) == 1);
  CHECK(outcome.balanced());
}

TEST_CASE("perf groups: a count of counters that lies is a bad sample") {
  const PerfWriter w;
  for (const std::uint64_t count : {std::uint64_t{9}, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
    CAPTURE(count);
    TestBytes payload = w.bytes();
    payload.u64(11).u64(1).u32(5).u32(5).u64(1).u64(4000).u64(count).u64(1).u64(11).u64(0);
    const auto outcome =
        test::read_perf(w.pipe(group_of_two(), {w.record(perf::RecordType::kSample, 2, payload)}));
    CHECK(lines_of(outcome).empty());
    CHECK(outcome.count(perf::skip::kBadSamples.name()) == 1);
  }
}

TEST_CASE("perf groups: a single counter that is read weighs its samples, too") {
  const PerfWriter w;
  test::TestAttr attr;
  attr.sample_type |=
      perf::sample_bit::kIdentifier | perf::sample_bit::kPeriod | perf::sample_bit::kRead;
  attr.read_format = perf::read_bit::kId | perf::read_bit::kTimeEnabled;
  attr.ids = {11};
  const auto sample = [&](std::uint64_t time, std::uint64_t value) {
    TestBytes payload = w.bytes();
    payload.u64(11).u64(0x10).u32(5).u32(5).u64(time).u64(4000);
    payload.u64(value).u64(77).u64(11).u64(2).u64(kContextUser).u64(0x10);
    return w.record(perf::RecordType::kSample, 2, payload);
  };
  const auto outcome = test::read_perf(w.pipe({attr}, {sample(1, 40), sample(2, 41)}));
  CHECK(lines_of(outcome) == Lines{"0:40:u10", "0:1:u10"});
}

TEST_CASE("perf groups: samples that wait for the rest of their callstack keep their counters") {
  const PerfWriter w;
  TestBytes payload = w.bytes();
  payload.u64(11).u64(0x77).u32(5).u32(5).u64(1).u64(4000);
  payload.u64(2).u64(30).u64(11).u64(2).u64(21);
  payload.u64(2).u64(test::kContextUserDeferred).u64(1);
  TestBytes rest = w.bytes();
  // Cookie, one entry; then the trailer: thread, time, id.
  rest.u64(1).u64(1).u64(0x77).u32(5).u32(5).u64(9).u64(11);
  const auto outcome = test::read_perf(
      w.pipe(group_of_two(), {w.record(perf::RecordType::kSample, 2, payload),
                              w.record(perf::RecordType::kCallchainDeferred, 2, rest)}));
  CHECK(lines_of(outcome) == Lines{"0:30:u77", "1:2:u77 +"});
}

TEST_CASE("perf groups: what comes while a sample waits leaves its counters alone") {
  // A group, and an event that carries no counters; one waits while the other comes.
  std::vector<test::TestAttr> attrs = group_of_two();
  test::TestAttr plain = attrs.front();
  plain.sample_type &= ~perf::sample_bit::kRead;
  plain.read_format = 0;
  plain.config = 3;
  plain.ids = {31};
  attrs.push_back(plain);
  const PerfWriter w;
  const auto sample = [&w](bool counts, std::uint64_t time, std::uint64_t weight, bool waits) {
    TestBytes payload = w.bytes();
    payload.u64(counts ? 11 : 31).u64(waits ? 0x77 : 0x20);
    payload.u32(5).u32(5).u64(time).u64(weight);
    if (counts) {
      payload.u64(2).u64(30 * time).u64(11).u64(2 * time).u64(21);
    }
    payload.u64(2).u64(waits ? test::kContextUserDeferred : kContextUser).u64(waits ? 1 : 0x20);
    return w.record(perf::RecordType::kSample, 2, payload);
  };
  const auto rest = [&w](bool counts) {
    TestBytes payload = w.bytes();
    payload.u64(1).u64(1).u64(0x77).u32(5).u32(5).u64(9).u64(counts ? 11 : 31);
    return w.record(perf::RecordType::kCallchainDeferred, 2, payload);
  };
  const auto plain_waits = test::read_perf(
      w.pipe(attrs, {sample(false, 1, 4000, true), sample(true, 2, 1, false), rest(false)}));
  CHECK(lines_of(plain_waits) == Lines{"0:60:u20", "1:4:u20 +", "2:4000:u77"});
  const auto group_waits = test::read_perf(
      w.pipe(attrs, {sample(true, 1, 1, true), sample(false, 2, 4000, false), rest(true)}));
  CHECK(lines_of(group_waits) == Lines{"2:4000:u20", "0:30:u77", "1:2:u77 +"});
}
