// What payloads of the runtime's events say.
#include "formats/dotnet/runtime_values.h"

#include <bit>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/nettrace_maker.h"

namespace stackpack::test {
namespace {

struct ValueReading {
  capture::ValueRecorder recorder;
  capture::LossCounters losses;
  dotnet::RuntimeValues values{&recorder, losses};

  void event(std::uint32_t id, const TestBytes& payload, std::uint64_t time_ns = 1,
             unsigned pointer_size = 8) {
    values.event({id, payload.bytes, pointer_size, time_ns, 3, 4, 0});
  }

  // KIND VALUE VALUE ...; texts as they are.
  std::vector<std::string> lines() {
    std::vector<EventValue> rows;
    const Status finished = recorder.finish(losses, [&rows](const EventValue& row) {
      rows.push_back(row);
      return Status();
    });
    CHECK(finished);
    const std::vector<ValueSchema> kinds = recorder.kinds();
    std::vector<std::string> result;
    for (const EventValue& row : rows) {
      const ValueSchema& kind = kinds.at(row.kind);
      std::string line = kind.name;
      for (std::size_t i = 0; i < kind.fields.size(); ++i) {
        line += ' ';
        line += kind.fields[i].type == ValueType::kText ? recorder.texts().at(row.values[i])
                : row.values[i] == kNoValue             ? "-"
                                                        : std::to_string(row.values[i]);
      }
      result.push_back(line);
    }
    return result;
  }
};

using Lines = std::vector<std::string>;

TEST_SUITE("runtime values") {
  TEST_CASE("runtime values: collections, in all versions") {
    ValueReading reading;
    reading.event(1, TestBytes().u32(7).u32(2), 1);
    reading.event(1, TestBytes().u32(8).u32(1).u32(4).u32(0).u16(9), 2);
    reading.event(2, TestBytes().u32(7).u16(2), 3);
    reading.event(2, TestBytes().u32(8).u32(1).u16(9), 4);
    reading.event(9, TestBytes().u16(1), 5);
    reading.event(9, TestBytes().u32(1).u32(8).u16(9), 6);
    reading.event(9, TestBytes().u32(6).u32(0xFFFFFFFF).u16(9), 7);
    reading.event(3, TestBytes().u16(9), 8);
    CHECK(reading.lines() == Lines{"gc_start 7 - 2 - 0", "gc_start 8 1 4 0 9", "gc_end 7 2 0",
                                   "gc_end 8 1 9", "suspend_start 1 - 0", "suspend_start 1 8 9",
                                   "suspend_start 6 - 9", "restart_end 9"});
    CHECK_FALSE(reading.losses.any_loss());
  }

  TEST_CASE("runtime values: heap sizes, with pinned objects since version 2") {
    TestBytes payload;
    for (std::uint64_t i = 1; i <= 4; ++i) {
      payload.u64(100 * i).u64(i);
    }
    payload.u64(50).u64(5).u32(6).u32(7).u32(8).u16(9);
    ValueReading reading;
    reading.event(4, payload, 1);
    reading.event(4, TestBytes(payload).u64(500).u64(20), 2);
    CHECK(reading.lines() ==
          Lines{"gc_heap 100 200 300 400 - 10 6 8", "gc_heap 100 200 300 400 500 30 6 8"});
  }

  TEST_CASE("runtime values: allocations have bytes, a type and the object's size") {
    TestBytes tick;
    tick.u32(5).u32(1).u16(9).u64(0x1'0000'0005).u32(0xAA);
    put_utf16(tick, "System.Byte[]").u32(0);
    ValueReading reading;
    reading.event(10, TestBytes().u32(5).u32(1), 1, 4);
    reading.event(10, tick, 2, 4);
    reading.event(10, TestBytes(tick).u32(0xBB).u64(77), 3, 4);
    TestBytes sampled;
    sampled.u32(0).u16(9).u64(0xAA);
    put_utf16(sampled, "System.String").u64(0xBB).u64(24).u64(3);
    reading.event(303, sampled, 4);
    CHECK(reading.lines() == Lines{"allocation 5 1  -", "allocation 4294967301 1 System.Byte[] -",
                                   "allocation 4294967301 1 System.Byte[] 77",
                                   "allocation 24 0 System.String 24"});
  }

  TEST_CASE("runtime values: exceptions, locks and the thread pool") {
    TestBytes thrown;
    put_utf16(thrown, "System.IO.IOException");
    put_utf16(thrown, "no such file").u64(0x1000).u32(0x80070002).u16(16).u16(9);
    ValueReading reading;
    reading.event(80, thrown, 1);
    reading.event(91, TestBytes().u8(1).u16(9), 2);
    reading.event(91, TestBytes().u8(0).u16(9).u64(std::bit_cast<std::uint64_t>(1500.7)), 3);
    reading.event(50, TestBytes().u32(4).u32(1).u16(9), 4);
    reading.event(57, TestBytes().u32(5).u32(0).u16(9), 5);
    CHECK(reading.lines() == Lines{"exception System.IO.IOException no such file 2147942402 16",
                                   "contention - 1", "contention 1500 0",
                                   "thread_pool_threads 0 4 1", "thread_pool_threads 2 5 0"});
  }

  TEST_CASE("runtime values: who waits for which lock, whom it belongs to, and handlers") {
    TestBytes caught;
    caught.u64(0x1000).u64(0x2000);
    put_utf16(caught, "void App::Main()").u16(9);
    ValueReading reading;
    reading.event(81, TestBytes().u8(1).u16(9), 1);
    reading.event(81, TestBytes().u8(0).u16(9).u64(0xA0).u64(0xB0).u64(77), 2);
    reading.event(81, TestBytes().u8(0).u16(9).u64(0xA0).u64(0xB0).u64(0), 3);
    reading.event(250, caught, 4);
    reading.event(301, TestBytes().u8(1).u64(0).u16(9), 5);
    reading.event(302, TestBytes().u16(9), 6);
    CHECK(reading.lines() == Lines{"contention_start - - - 1", "contention_start 160 176 77 0",
                                   "contention_start 160 176 - 0",
                                   "exception_catch void App::Main()", "wait_start 1 -",
                                   "wait_end 9"});
  }

  TEST_CASE("runtime values: files have the later kinds only where they have values of them") {
    const auto names = [](const ValueReading& reading) {
      std::string text;
      for (const ValueSchema& kind : reading.recorder.kinds()) {
        text += kind.name + ' ';
      }
      return text;
    };
    ValueReading reading;
    reading.event(91, TestBytes().u8(1).u16(9), 1);
    CHECK(names(reading).ends_with(" heap image "));
    reading.event(302, TestBytes().u16(9), 2);
    CHECK(names(reading).ends_with(" heap image wait_end "));
    CHECK(reading.lines() == Lines{"contention - 1", "wait_end 9"});
  }

  TEST_CASE("runtime values: a method is compiled from its start until it is there") {
    TestBytes start;
    start.u64(11).u64(1).u32(2).u32(40);
    put_utf16(start, "Space.Class");
    put_utf16(start, "Method");
    put_utf16(start, "void ()").u16(9);
    const auto loaded = [](std::uint64_t method) {
      return TestBytes().u64(method).u64(1).u64(0x7000).u32(123).u32(2).u32(8 | 3 << 7);
    };
    ValueReading reading;
    reading.event(143, loaded(12), 5);  // was there before
    reading.event(145, start, 10);
    reading.event(143, loaded(11), 35);
    reading.event(143, loaded(11), 50);
    CHECK(reading.lines() == Lines{"jit 25 123 40 3 Space.Class.Method"});
  }

  TEST_CASE("runtime values: what is too short is counted, and says nothing") {
    ValueReading reading;
    TestBytes thrown;
    put_utf16(thrown, "System.Exception");
    for (const auto& [id, payload] :
         {std::pair(1U, TestBytes().u32(7)), std::pair(4U, TestBytes().u64(1)),
          std::pair(10U, TestBytes().u32(1)), std::pair(80U, thrown),
          std::pair(145U, TestBytes().u64(1))}) {
      reading.event(id, payload);
    }
    CHECK(reading.losses.count("bad_event_values") == 5);
    CHECK(reading.recorder.empty());
  }
}

}  // namespace
}  // namespace stackpack::test
