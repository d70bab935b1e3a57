// Values of events: how they find their callstacks, names of files and texts.
#include "capture/value_recorder.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::test {
namespace {

using capture::RecordedValue;
using capture::ValueKind;
using capture::ValueRecorder;

RecordedValue allocation_at(std::uint64_t time, std::uint32_t tid, std::uint64_t bytes,
                            std::uint64_t type = 0) {
  RecordedValue value;
  value.time_ns = time;
  value.stack_time_ns = time;
  value.stack_tid = tid;
  value.tid = tid;
  value.kind = ValueKind::kAllocation;
  value.stack_event =
      capture::valued_event("Microsoft-Windows-DotNETRuntime/GC/AllocationTick").value();
  value.values = {bytes, 0, type, kNoValue};
  return value;
}

Sample sample_at(std::uint64_t time, std::uint32_t tid) {
  Sample sample;
  sample.time_ns = time;
  sample.tid = tid;
  sample.pid = 5;
  return sample;
}

std::vector<EventValue> finish(ValueRecorder& recorder) {
  capture::LossCounters losses;
  std::vector<EventValue> rows;
  const Status finished = recorder.finish(losses, [&rows](const EventValue& row) {
    rows.push_back(row);
    return Status();
  });
  CHECK(finished);
  return rows;
}

TEST_SUITE("event values") {
  TEST_CASE("event values: of a merge they have their callstacks, and come by source") {
    const auto rows_of = [](const std::vector<std::uint32_t>& ranks) {
      ValueRecorder recorder;
      for (const std::uint32_t rank : ranks) {
        recorder.add_placed(allocation_at(10, 1, 10 * rank), 100 + rank,
                            static_cast<std::uint16_t>(rank), rank);
        recorder.add_placed(allocation_at(10, 1, 10 * rank + 1), 0, 0, rank);
        recorder.add_placed(allocation_at(9, 1, 10 * rank + 2), 0, 0, rank);
      }
      std::vector<std::string> rows;
      capture::LossCounters losses;
      CHECK(recorder.finish(losses, [&rows](const capture::FoundValue& row) {
        rows.push_back(std::to_string(row.values[0]) + " " + std::to_string(row.stack) + " " +
                       std::to_string(row.segment));
        return Status();
      }));
      return rows;
    };
    const std::vector<std::string> wanted{"12 0 0", "22 0 0",   "10 101 1",
                                          "11 0 0", "20 102 2", "21 0 0"};
    CHECK(rows_of({1, 2}) == wanted);
    CHECK(rows_of({2, 1}) == wanted);
  }

  TEST_CASE("event values: several of one sample have its callstack") {
    ValueRecorder recorder;
    const auto with_previous = [](RecordedValue value) {
      value.with_previous = true;
      return value;
    };
    for (const std::uint64_t bytes : {10U, 20U, 30U}) {  // the third sample does not come
      recorder.add(allocation_at(10, 1, bytes));
      recorder.add(with_previous(allocation_at(10, 1, bytes + 1)));
    }
    const auto tick =
        capture::valued_event("Microsoft-Windows-DotNETRuntime/GC/AllocationTick").value();
    CHECK(recorder.offer_stack(tick, sample_at(10, 1), 100));
    CHECK(recorder.offer_stack(tick, sample_at(10, 1), 200));
    std::vector<std::string> rows;
    for (const EventValue& row : finish(recorder)) {
      rows.push_back(std::to_string(row.values[0]) + " " +
                     (row.stack == kNoStack ? "none" : std::to_string(row.stack)));
    }
    CHECK(rows ==
          std::vector<std::string>{"10 100", "11 100", "20 200", "21 200", "30 none", "31 none"});
  }

  TEST_CASE("event values: each gets the callstack of its own sample") {
    ValueRecorder recorder;
    recorder.add(allocation_at(20, 1, 7));
    recorder.add(allocation_at(10, 1, 1));
    recorder.add(allocation_at(10, 2, 2));
    recorder.add(allocation_at(10, 1, 3));  // of the same time and thread: in their order
    const auto tick =
        capture::valued_event("Microsoft-Windows-DotNETRuntime/GC/AllocationTick").value();
    const auto other = capture::valued_event("Microsoft-Windows-DotNETRuntime/GC/Start").value();
    CHECK(recorder.offer_stack(tick, sample_at(10, 1), 100));
    CHECK(recorder.offer_stack(tick, sample_at(10, 1), 101));
    CHECK(recorder.offer_stack(tick, sample_at(10, 2), 102));
    CHECK(recorder.offer_stack(other, sample_at(20, 1), 103));
    CHECK(recorder.offer_stack(tick, sample_at(21, 1), 104));
    const std::vector<EventValue> rows = finish(recorder);
    REQUIRE(rows.size() == 4);
    CHECK(rows[0].values[0] == 1);
    CHECK(rows[0].stack == 100);
    CHECK(rows[1].values[0] == 2);
    CHECK(rows[1].stack == 102);
    CHECK(rows[2].values[0] == 3);
    CHECK(rows[2].stack == 101);
    CHECK(rows[3].stack == kNoStack);
  }

  TEST_CASE(
      "event values: kinds of a capture's own come by name, with their texts and callstacks") {
    const ValueSchema later{"b:later", {{"text", ValueType::kText}, {"n", ValueType::kSigned}}};
    const ValueSchema sooner{"a:sooner", {{"n", ValueType::kNumber}, {"text", ValueType::kText}}};
    ValueRecorder recorder;
    const auto first = recorder.own_kind(later);
    const auto second = recorder.own_kind(sooner);
    REQUIRE((first && second));
    CHECK(recorder.own_kind(later) == first);
    const std::size_t known = capture::kLastingKinds;
    REQUIRE(recorder.kinds().size() == known + 2);
    CHECK(recorder.kinds()[known] == sooner);
    CHECK(recorder.kinds()[known + 1] == later);
    const auto event = recorder.own_event(3);
    REQUIRE(event);
    CHECK(recorder.own_event(3) == event);
    CHECK(recorder.own_event(4) != event);
    CHECK(recorder.event_number(3, "any name") == event);
    CHECK_FALSE(recorder.event_number(5, "any name"));
    RecordedValue value = allocation_at(10, 1, 0);
    value.kind = *first;
    value.stack_event = *event;
    value.values = {recorder.text("word"), 7};
    recorder.add(value);
    value = allocation_at(20, 1, 0);
    value.kind = *second;
    value.values = {1, recorder.text("other")};
    recorder.add(value);
    CHECK(recorder.offer_stack(*event, sample_at(10, 2), 8));  // of another thread
    CHECK(recorder.offer_stack(*event, sample_at(10, 1), 9));
    const std::vector<EventValue> rows = finish(recorder);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].kind == known + 1);
    CHECK(rows[0].stack == 9);
    CHECK(recorder.texts().at(rows[0].values[0]) == "word");
    CHECK(rows[0].values[1] == 7);
    CHECK(rows[1].kind == known);
    CHECK(rows[1].values[0] == 1);
    CHECK(recorder.texts().at(rows[1].values[1]) == "other");
  }

  TEST_CASE("event values: kinds and events of a capture's own have limits") {
    ValueRecorder recorder;
    for (std::size_t i = 0; i < ValueRecorder::kMostOwnKinds; ++i) {
      CHECK(recorder.own_kind({"a:" + std::to_string(i), {}}));
    }
    CHECK_FALSE(recorder.own_kind({"a:more", {}}));
    CHECK_FALSE(ValueRecorder().own_kind({"a:wide", std::vector<ValueField>(9)}));
    for (std::uint32_t i = 0; i < ValueRecorder::kMostOwnEvents; ++i) {
      CHECK(recorder.own_event(i));
    }
    CHECK_FALSE(recorder.own_event(1000));
  }

  TEST_CASE("event values: of the kernel's events the sample says which thread it was") {
    ValueRecorder recorder;
    RecordedValue value;
    value.time_ns = 50;
    value.stack_time_ns = 40;
    value.kind = ValueKind::kDiskIo;
    value.stack_event = capture::valued_event("DiskIo/ReadInit").value();
    recorder.add(value);
    CHECK(recorder.offer_stack(value.stack_event, sample_at(40, 9), 3));
    const std::vector<EventValue> rows = finish(recorder);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].tid == 9);
    CHECK(rows[0].pid == 5);
    CHECK(rows[0].stack == 3);
  }

  TEST_CASE("event values: a file has the latest name before, or else the first after") {
    ValueRecorder recorder;
    recorder.name_file(0x10, 100, "old");
    recorder.name_file(0x10, 200, "new");
    recorder.name_file(0x20, 0, "other");
    recorder.name_file(0x30, 0, "not read");
    for (const std::uint64_t time : {50U, 150U, 250U}) {
      RecordedValue value;
      value.time_ns = time;
      value.kind = ValueKind::kHardFault;
      value.keyed = 1U << 4U;
      value.values[4] = time == 250 ? 0x99 : 0x10;
      recorder.add(value);
    }
    RecordedValue last;
    last.time_ns = 300;
    last.kind = ValueKind::kHardFault;
    last.keyed = 1U << 4U;
    last.values[4] = 0x10;
    recorder.add(last);
    const std::vector<EventValue> rows = finish(recorder);
    REQUIRE(rows.size() == 4);
    CHECK(recorder.texts() == std::vector<std::string>{"", "old", "new"});
    CHECK(rows[0].values[4] == 1);
    CHECK(rows[1].values[4] == 1);
    CHECK(rows[2].values[4] == 0);
    CHECK(rows[3].values[4] == 2);
  }

  TEST_CASE("event values: more rows than fit in memory come in order of time") {
    constexpr std::uint64_t kCount = 70'000;
    ValueRecorder recorder;
    recorder.configure(".");
    const auto tick =
        capture::valued_event("Microsoft-Windows-DotNETRuntime/GC/AllocationTick").value();
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const std::uint64_t time = i * 7919 % kCount;
      recorder.add(allocation_at(time, 1, time));
    }
    for (std::uint64_t i = 0; i < kCount; ++i) {
      CHECK(recorder.offer_stack(tick, sample_at(i, 1), static_cast<StackId>(i)));
    }
    const std::vector<EventValue> rows = finish(recorder);
    REQUIRE(rows.size() == kCount);
    bool same = true;
    for (std::uint64_t i = 0; i < kCount; ++i) {
      same = same && rows[i].values[0] == i && rows[i].stack == i;
    }
    CHECK(same);
  }

  TEST_CASE("event values: redaction leaves out messages and names of users") {
    ValueRecorder recorder;
    recorder.set_redaction(true);
    CHECK(recorder.message("secret") == 0);
    CHECK(recorder.path("C:\\Users\\ann\\a.txt") == recorder.text("C:\\Users\\USER\\a.txt"));
    CHECK(recorder.text("System.String") != 0);
  }
}

}  // namespace
}  // namespace stackpack::test
