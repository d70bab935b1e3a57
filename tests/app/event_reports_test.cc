// What memory stays committed, and what the runtime compiled.
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/analysis/gc_report.h"
#include "app/analysis/held_memory.h"
#include "app/analysis/io_report.h"
#include "app/analysis/runtime_reports.h"
#include "stackpack/convert.h"
#include "stackpack/merge.h"
#include "stackpack/reader.h"
#include "support/etl_reading.h"
#include "support/nettrace_maker.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

void write_capture(const std::string& path, const std::vector<std::byte>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),  // NOLINT: as streams want it
             static_cast<std::streamsize>(bytes.size()));
}

// `BEGIN-END OWNER` of each range of a process.
std::string ranges_of(const app::HeldMemory& memory, std::uint32_t pid) {
  std::string text;
  const auto found = memory.processes().find(pid);
  if (found == memory.processes().end()) {
    return "-";
  }
  for (const auto& [begin, range] : found->second) {
    text += (text.empty() ? "" : " ") + std::to_string(begin) + '-' + std::to_string(range.end) +
            '/' + std::to_string(range.owner.stack);
  }
  return text;
}

TEST_SUITE("event reports") {
  TEST_CASE("held memory: what is committed twice stays its owner's, and parts are released") {
    app::HeldMemory memory;
    memory.commit(1, 100, 100, {1, 0});
    memory.commit(1, 300, 100, {2, 0});
    memory.commit(1, 50, 500, {3, 0});
    CHECK(ranges_of(memory, 1) == "50-100/3 100-200/1 200-300/3 300-400/2 400-550/3");
    CHECK(memory.most_bytes() == 500);
    memory.release(1, 150, 200);
    CHECK(ranges_of(memory, 1) == "50-100/3 100-150/1 350-400/2 400-550/3");
    memory.release(1, 420, 10);
    CHECK(ranges_of(memory, 1) == "50-100/3 100-150/1 350-400/2 400-420/3 430-550/3");
    memory.release(2, 0, 1000);
    memory.release(1, 0, 1000);
    CHECK(ranges_of(memory, 1).empty());
    CHECK(memory.most_bytes() == 500);
    // The end of the address space is one.
    memory.commit(1, ~std::uint64_t{0} - 10, 100, {4, 0});
    memory.release(1, ~std::uint64_t{0} - 5, ~std::uint64_t{0});
    CHECK(ranges_of(memory, 1) == "18446744073709551605-18446744073709551610/4");
  }

  TEST_CASE("io report: bytes that live at the end, by callstack") {
    const ScratchDirectory folder;
    constexpr std::uint8_t kPageFault = 2;
    const auto memory_event = [](std::uint64_t address, std::uint64_t bytes, std::uint32_t flags) {
      return TestBytes().u64(address).u64(bytes).u32(7).u32(flags);
    };
    write_capture(
        folder.file("a.etl"), make_etl({}, [&](EtlWriter& out) {
          const auto add = [&](std::uint64_t clock, std::uint8_t type, const TestBytes& payload,
                               std::uint64_t frame) {
            out.system(0, clock, kPageFault, type, 2, 5, 7, payload);
            out.stack(0, clock + 1, clock, 7, 5, {frame});
          };
          add(1'000'100, 98, memory_event(0x10000, 0x4000, 0x3000), kU + 1);  // reserve and commit
          add(1'000'200, 98, memory_event(0x20000, 0x2000, 0x1000), kU + 2);
          add(1'000'300, 98, memory_event(0x90000, 0x8000, 0x2000), kU + 1);  // reserve alone
          add(1'000'400, 99, memory_event(0x10000, 0x1000, 0x4000), kU + 3);
          add(1'000'500, 99, memory_event(0x20000, 0x2000, 0x8000), kU + 3);
        }));
    REQUIRE(convert(folder.file("a.etl"), folder.file("a.spk"), {}, nullptr));
    const auto reader = Reader::open(folder.file("a.spk"));
    REQUIRE(reader);
    const auto report = app::io_report(**reader, app::IoOrder::kBytes, 0);
    REQUIRE(report);
    CHECK(report->memory.operations == 4);
    CHECK(report->memory.bytes == 0x3000);
    CHECK(report->memory.most_bytes == 0x6000);
    REQUIRE(report->memory.stacks.size() == 1);
    CHECK(report->memory.stacks[0].pid == 7);
    CHECK(report->memory.stacks[0].bytes == 0x3000);
    std::vector<Frame> frames;
    REQUIRE((*reader)->callstack(report->memory.stacks[0].stack, frames));
    CHECK(frames.at(0).address == kU + 1);
    CHECK(report->heap.operations == 0);
  }

  TEST_CASE("io report: blocks of heaps that live at the end, moved and given out again") {
    const ScratchDirectory folder;
    constexpr std::uint8_t kHeap = 16;
    const auto allocated = [](std::uint64_t address, std::uint64_t bytes) {
      return TestBytes().u64(0xAA).u64(bytes).u64(address).u32(2);
    };
    write_capture(
        folder.file("a.etl"), make_etl({}, [&](EtlWriter& out) {
          const auto add = [&](std::uint64_t clock, std::uint8_t type, const TestBytes& payload,
                               std::uint64_t frame) {
            out.system(0, clock, kHeap, type, 2, 5, 7, payload);
            out.stack(0, clock + 1, clock, 7, 5, {frame});
          };
          add(1'000'100, 33, allocated(0x1000, 100), kU + 1);
          add(1'000'200, 33, allocated(0x2000, 40), kU + 2);
          add(1'000'300, 34, TestBytes().u64(0xAA).u64(0x3000).u64(0x2000).u64(80).u64(40).u32(2),
              kU + 3);
          add(1'000'400, 36, TestBytes().u64(0xAA).u64(0x1000).u32(2), kU + 4);
          add(1'000'500, 33, allocated(0x4000, 10), kU + 5);
          add(1'000'600, 33, allocated(0x4000, 20), kU + 6);  // nobody said that it was freed
          add(1'000'700, 36, TestBytes().u64(0xAA).u64(0x9000).u32(2), kU + 4);  // of before
        }));
    REQUIRE(convert(folder.file("a.etl"), folder.file("a.spk"), {}, nullptr));
    const auto reader = Reader::open(folder.file("a.spk"));
    REQUIRE(reader);
    const auto report = app::io_report(**reader, app::IoOrder::kBytes, 0);
    REQUIRE(report);
    CHECK(report->heap.operations == 7);
    CHECK(report->heap.bytes == 100);
    CHECK(report->heap.most_bytes == 180);
    REQUIRE(report->heap.stacks.size() == 2);
    std::vector<Frame> frames;
    CHECK(report->heap.stacks[0].bytes == 80);
    REQUIRE((*reader)->callstack(report->heap.stacks[0].stack, frames));
    CHECK(frames.at(0).address == kU + 3);
    CHECK(report->heap.stacks[1].bytes == 20);
    REQUIRE((*reader)->callstack(report->heap.stacks[1].stack, frames));
    CHECK(frames.at(0).address == kU + 6);
    CHECK(report->memory.operations == 0);
  }

  TEST_CASE("gc report: pauses of a merged file are shares of their own captures") {
    const ScratchDirectory folder;
    const auto capture = [&](const std::string& name, std::uint64_t length) {
      NettraceWriter out(4, 8, 1'000'000'000);
      out.metadata(1, "Microsoft-Windows-DotNETRuntime", 9, "", 1);
      out.metadata(2, "Microsoft-Windows-DotNETRuntime", 3, "", 1);
      out.metadata(3, "Microsoft-DotNETCore-SampleProfiler", 0, "");
      out.stacks(1, {{0x1010, length}});
      std::vector<NettraceEvent> events;
      const auto add = [&](std::uint32_t kind, std::uint64_t ticks,
                           std::vector<std::byte> payload) {
        NettraceEvent event;
        event.metadata = kind;
        event.number = static_cast<std::uint32_t>(events.size() + 1);
        event.ticks = ticks;
        event.stack = kind == 3 ? 1 : 0;
        event.payload = std::move(payload);
        events.push_back(event);
      };
      add(3, 1'000, TestBytes().u32(2).bytes);
      add(1, 2'000, TestBytes().u32(1).u32(1).u16(9).bytes);
      add(2, 3'000, TestBytes().u16(9).bytes);
      add(3, 1'000 + length, TestBytes().u32(2).bytes);
      out.events(events);
      write_capture(folder.file(name), out.finish());
      return folder.file(name);
    };
    const std::vector<std::string> inputs = {capture("a.nettrace", 10'000),
                                             capture("b.nettrace", 50'000)};
    REQUIRE(merge(inputs, folder.file("both.spk"), {}, nullptr));
    const auto reader = Reader::open(folder.file("both.spk"));
    REQUIRE(reader);
    const auto report = app::gc_report(**reader, 0);
    REQUIRE(report);
    std::vector<std::uint64_t> lengths;
    for (const app::GcProcess& process : report->processes) {
      lengths.push_back(process.recorded_ns);
      CHECK(process.pause_ns == 1'000);
    }
    std::sort(lengths.begin(), lengths.end());
    CHECK(lengths == std::vector<std::uint64_t>{10'000, 50'000});
  }

  TEST_CASE("gc report: pauses add up, the longest is any of them, others stand apart") {
    struct Pause {
      std::uint32_t reason;  // 1, 6: for a collection
      std::uint64_t ns;
    };
    const std::vector<std::vector<Pause>> cases = {{{1, 5'000}, {6, 7'000}, {1, 2'000}, {0, 9'000}},
                                                   {{0, 9'000}, {1, 7'000}, {1, 7'000}, {6, 1'000}},
                                                   {{1, 1'000}, {5, 3'000}, {1, 8'000}},
                                                   {{2, 4'000}},
                                                   {}};
    for (const std::vector<Pause>& pauses : cases) {
      const ScratchDirectory folder;
      NettraceWriter out(4, 8, 1'000'000'000);
      constexpr std::string_view kRuntime = "Microsoft-Windows-DotNETRuntime";
      for (const std::uint32_t kind : {1U, 2U, 3U, 9U}) {
        out.metadata(kind, kRuntime, kind, "", kind == 1 ? 2 : 1);
      }
      std::vector<NettraceEvent> events;
      const auto add = [&](std::uint32_t kind, std::uint64_t ticks, const TestBytes& payload) {
        NettraceEvent event;
        event.metadata = kind;
        event.number = static_cast<std::uint32_t>(events.size() + 1);
        event.ticks = ticks;
        event.payload = payload.bytes;
        events.push_back(event);
      };
      // Each with a collection that takes half of it; the first restart has no suspension.
      std::uint64_t now = 1'000;
      std::uint32_t number = 0;
      std::uint64_t collecting = 0;
      std::uint64_t longest = 0;
      std::uint64_t other = 0;
      std::size_t collections = 0;
      add(3, now, TestBytes().u16(9));
      for (const Pause& pause : pauses) {
        const bool collects = pause.reason == 1 || pause.reason == 6;
        now += 100'000;
        add(9, now, TestBytes().u32(pause.reason).u32(++number).u16(9));
        if (collects) {
          add(1, now + 10, TestBytes().u32(number).u32(number % 3).u32(0).u32(0).u16(9).u64(0));
          add(2, now + pause.ns / 2, TestBytes().u32(number).u32(number % 3).u16(9));
          ++collections;
        }
        add(3, now + pause.ns, TestBytes().u16(9));
        (collects ? collecting : other) += pause.ns;
        longest = collects ? std::max(longest, pause.ns) : longest;
      }
      out.events(events);
      write_capture(folder.file("a.nettrace"), out.finish());
      REQUIRE(convert(folder.file("a.nettrace"), folder.file("a.spk"), {}, nullptr));
      const auto reader = Reader::open(folder.file("a.spk"));
      REQUIRE(reader);
      const auto report = app::gc_report(**reader, 0);
      REQUIRE(report);
      REQUIRE(report->processes.size() == 1);
      const app::GcProcess& process = report->processes[0];
      CHECK(process.pauses == collections);
      CHECK(process.pause_ns == collecting);
      CHECK(process.longest_ns == longest);
      CHECK(process.other_pauses == pauses.size() - collections);
      CHECK(process.other_pause_ns == other);
      REQUIRE(process.collections.size() == collections);
      std::size_t at = 0;
      for (std::size_t i = 0; i < pauses.size(); ++i) {
        if (pauses[i].reason != 1 && pauses[i].reason != 6) {
          continue;
        }
        const auto& collection = process.collections[at++];
        CHECK(collection.number == i + 1);
        CHECK(collection.generation == (i + 1) % 3);
        CHECK(collection.pause_ns == pauses[i].ns);
        CHECK(collection.to_ns - collection.from_ns == pauses[i].ns / 2 - 10);
      }
    }
  }

  TEST_CASE("jit report: methods by tier, method and caller") {
    const ScratchDirectory folder;
    NettraceWriter out(4, 8, 1'000'000'000);
    constexpr std::string_view kRuntime = "Microsoft-Windows-DotNETRuntime";
    out.metadata(1, kRuntime, 145, "", 1);
    out.metadata(2, kRuntime, 143, "", 2);
    out.stacks(1, {{0x1010, 0x2020}});
    std::vector<NettraceEvent> events;
    const auto add = [&](std::uint32_t kind, std::uint64_t ticks, std::vector<std::byte> payload) {
      NettraceEvent event;
      event.metadata = kind;
      event.number = static_cast<std::uint32_t>(events.size() + 1);
      event.ticks = ticks;
      event.stack = kind == 1 ? 1 : 0;
      event.payload = std::move(payload);
      events.push_back(event);
    };
    const auto start = [](std::uint64_t method, std::string_view name) {
      TestBytes bytes;
      bytes.u64(method).u64(1).u32(0x06000001).u32(50);
      put_utf16(bytes, "App.Program");
      put_utf16(bytes, name);
      put_utf16(bytes, "void  (int32)").u16(9);
      return bytes.bytes;
    };
    add(1, 1'000, start(1, "Fast"));
    add(2, 3'000, method_event(1, 1, 0x5000, "App.Program", "Fast"));
    add(1, 4'000, start(2, "Slow"));
    add(2, 9'000, method_event(2, 1, 0x6000, "App.Program", "Slow"));
    out.events(events);
    write_capture(folder.file("a.nettrace"), out.finish());
    REQUIRE(convert(folder.file("a.nettrace"), folder.file("a.spk"), {}, nullptr));
    const auto reader = Reader::open(folder.file("a.spk"));
    REQUIRE(reader);
    const auto report = app::jit_report(**reader, 1);
    REQUIRE(report);
    CHECK(report->methods == 2);
    CHECK(report->ns == 7'000);
    CHECK(report->code_bytes == 0x200);
    CHECK(report->il_bytes == 100);
    CHECK(report->all_methods == 2);
    REQUIRE(report->slowest.size() == 1);
    CHECK(report->slowest[0].name.find("Slow") != std::string::npos);
    CHECK(report->slowest[0].ns == 5'000);
    REQUIRE(report->callers.size() == 1);
    CHECK(report->callers[0].count == 2);
  }
}

}  // namespace
}  // namespace stackpack::test
