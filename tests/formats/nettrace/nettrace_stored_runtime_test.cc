// A trace with every event of the runtime that is kept, of several kinds each, stored in testdata
// for the tests that compare all answers about a capture.
#include <bit>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/nettrace_maker.h"
#include "support/source_folder.h"

namespace stackpack::test {
namespace {

constexpr std::string_view kRuntimeName = "Microsoft-Windows-DotNETRuntime";
const char* const kTypes[] = {"System.String", "System.Byte[]", "App.Order",
                              "App.Line`1[App.Order]"};
const char* const kMessages[] = {"no such file", "not now", ""};

// By the number of the event.
constexpr std::uint32_t kEvents[] = {1,  2,  3,  4,  7,  8,   9,   10, 50,
                                     51, 55, 57, 80, 91, 143, 145, 303};

/// Six threads that allocate, throw, wait and compile, and collections between.
class RuntimeTrace {
 public:
  std::vector<std::byte> write() {
    out_.metadata(kSample, "Microsoft-DotNETCore-SampleProfiler", 0, "");
    for (const std::uint32_t event : kEvents) {
      out_.metadata(event, kRuntimeName, event, "", event == 10 ? 4 : event == 4 ? 2 : 1);
    }
    for (turn_ = 0; turn_ < 30; ++turn_) {
      out_.stacks(1 + kStacks * turn_, stacks());
      samples();
      work();
      if (turn_ % 4 == 1) {
        collect();
      }
      compile();
      out_.events(events_);
      events_.clear();
    }
    return out_.finish();
  }

 private:
  static constexpr std::uint32_t kSample = 1000;
  static constexpr std::uint32_t kStacks = 5;  // of a turn

  // Of this turn: callstacks of up to 6 frames in 12 methods.
  std::vector<std::vector<std::uint64_t>> stacks() const {
    std::vector<std::vector<std::uint64_t>> stacks;
    for (std::uint64_t i = 0; i < kStacks; ++i) {
      std::vector<std::uint64_t> frames;
      for (std::uint64_t depth = 0; depth < 2 + (turn_ + i) % 5; ++depth) {
        frames.push_back(0x10010 + 0x1000 * ((turn_ + i * depth) % 12));
      }
      stacks.push_back(frames);
    }
    return stacks;
  }

  void add(std::uint32_t kind, std::uint32_t stack, const TestBytes& payload) {
    NettraceEvent event;
    event.metadata = kind;
    const std::uint32_t thread = (turn_ + stack) % 6;
    event.capture_thread = event.thread = 70 + thread;
    event.number = ++numbers_[thread];
    event.ticks = ticks_ += 1'000 + 13 * turn_;
    event.stack = stack == 0 ? 0 : kStacks * turn_ + stack;
    event.payload = payload.bytes;
    events_.push_back(event);
  }

  static TestBytes of(const std::vector<std::byte>& bytes) {
    TestBytes payload;
    payload.append(bytes);
    return payload;
  }

  void samples() {
    for (std::uint32_t i = 0; i < 5; ++i) {
      add(kSample, 1 + i, TestBytes().u32(1 + (turn_ + i) % 2));
    }
  }

  void work() {
    add(10, 1, of(allocation_event(90'000 + 700 * turn_, kTypes[turn_ % 4])));
    TestBytes sampled;
    sampled.u32(turn_ % 3).u16(9).u64(0xAA);
    put_utf16(sampled, kTypes[turn_ % 3]).u64(0xBB).u64(24 + 8 * turn_).u64(turn_);
    add(303, 2, sampled);
    const std::string type = "App.Trouble" + std::to_string(turn_ % 7);
    add(80, 3, of(exception_event(type, kMessages[turn_ % 3])));
    const auto waited = std::bit_cast<std::uint64_t>(1'000.5 * turn_);
    add(91, 4, TestBytes().u8(turn_ % 2 == 0 ? 0 : 1).u16(9).u64(waited));
    add(turn_ % 3 == 0 ? 50 : 57, 0, TestBytes().u32(4 + turn_ % 5).u32(turn_ % 2).u16(9));
    add(51, 0, TestBytes().u32(3 + turn_ % 5).u32(0).u16(9));
    const auto rate = std::bit_cast<std::uint64_t>(10.25 * turn_);
    add(55, 0, TestBytes().u64(rate).u32(5 + turn_ % 3).u32(turn_ % 7).u16(9));
  }

  void collect() {
    const std::uint32_t number = turn_ / 4 + 1;
    add(9, 0, TestBytes().u32(1).u32(number).u16(9));
    add(8, 0, TestBytes().u16(9));
    add(1, 0, TestBytes().u32(number).u32(number % 3).u32(turn_ % 5).u32(turn_ % 2).u16(9).u64(0));
    TestBytes heap;
    for (std::uint64_t i = 1; i <= 4; ++i) {
      heap.u64(1000 * i * number).u64(10 * i);
    }
    heap.u64(50).u64(5).u32(6).u32(7 + number).u32(8).u16(9).u64(500).u64(20);
    add(4, 0, heap);
    add(2, 0, TestBytes().u32(number).u32(number % 3).u16(9));
    add(7, 0, TestBytes().u16(9));
    add(3, 0, TestBytes().u16(9));
  }

  void compile() {
    if (turn_ >= 12) {
      return;
    }
    const std::string name = "Method" + std::to_string(turn_);
    const std::string space = turn_ % 2 == 0 ? "App.Program" : "App.Store";
    TestBytes start;
    start.u64(turn_).u64(1).u32(0x06000001).u32(40 + 3 * turn_);
    put_utf16(start, space);
    put_utf16(start, name);
    put_utf16(start, "void  (int32)").u16(9);
    add(145, 1 + turn_ % 5, start);
    ticks_ += 5'000 * turn_;
    add(143, 0, of(method_event(turn_, 1, 0x10000 + 0x1000 * turn_, space, name)));
  }

  NettraceWriter out_{4, 8, 1'000'000'000};
  std::vector<NettraceEvent> events_;
  std::uint32_t turn_ = 0;
  std::uint32_t numbers_[6] = {};
  std::uint64_t ticks_ = 1'000'000;
};

}  // namespace

// With STACKPACK_REWRITE_TESTDATA set, it is made anew.
TEST_CASE("the stored file of runtime events is what the writer makes") {
  const std::vector<std::byte> made = RuntimeTrace().write();
  const std::string path = source_folder() + "/testdata/runtime.nettrace";
  if (std::getenv("STACKPACK_REWRITE_TESTDATA") != nullptr) {
    std::ofstream file(path, std::ios::binary);
    for (const std::byte byte : made) {
      file.put(static_cast<char>(byte));
    }
  }
  CHECK(read_test_file(path) == made);
}

}  // namespace stackpack::test
