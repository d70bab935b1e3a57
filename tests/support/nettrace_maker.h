// A whole small trace of each version: seeds of the fuzz target and files in testdata.
#pragma once

#include "support/nettrace_writer.h"

namespace stackpack::test {

inline std::vector<std::byte> method_event(std::uint64_t id, std::uint64_t module,
                                           std::uint64_t start, std::string_view space,
                                           std::string_view name) {
  TestBytes bytes;
  bytes.u64(id).u64(module).u64(start).u32(0x100).u32(0x06000001).u32(8);
  put_utf16(bytes, space);
  put_utf16(bytes, name);
  put_utf16(bytes, "void  (int32)").u16(9).u64(0);
  return bytes.bytes;
}

inline std::vector<std::byte> module_event(std::uint64_t module, std::string_view path) {
  TestBytes bytes;
  bytes.u64(module).u64(77).u32(8).u32(0);
  put_utf16(bytes, path);
  put_utf16(bytes, "").u16(9);
  return bytes.bytes;
}

inline std::vector<std::byte> allocation_event(std::uint64_t amount, std::string_view type) {
  TestBytes bytes;
  bytes.u32(static_cast<std::uint32_t>(amount)).u32(0).u16(9).u64(amount).u64(0x7F00);
  put_utf16(bytes, type).u32(0).u64(0x10000).u64(24);
  return bytes.bytes;
}

inline std::vector<std::byte> exception_event(std::string_view type, std::string_view message) {
  TestBytes bytes;
  put_utf16(bytes, type);
  put_utf16(bytes, message).u64(0x1010).u32(0x80131500).u16(16).u16(9);
  return bytes.bytes;
}

/// Samples of two threads in three methods of one assembly, allocations of two types, exceptions,
/// a wait for a lock, a collection with its pause, and a rundown in the end.
inline std::vector<std::byte> small_trace(std::uint32_t version, std::uint32_t rounds = 3) {
  constexpr std::string_view kRuntimeName = "Microsoft-Windows-DotNETRuntime";
  constexpr std::string_view kRundownName = "Microsoft-Windows-DotNETRuntimeRundown";
  enum Kinds : std::uint32_t {
    kSample = 1,
    kAllocation,
    kException,
    kWaitStop,
    kSuspend,
    kStart,
    kStop,
    kRestarted,
    kHeap,
    kMethod,
    kModule,
  };
  NettraceWriter out(version, 8, 1'000'000'000);
  out.metadata(kSample, "Microsoft-DotNETCore-SampleProfiler", 0, "");
  out.metadata(kAllocation, kRuntimeName, 10, "", 4);
  out.metadata(kException, kRuntimeName, 80, "", 1);
  out.metadata(kWaitStop, kRuntimeName, 91, "", 1);
  out.metadata(kSuspend, kRuntimeName, 9, "", 1);
  out.metadata(kStart, kRuntimeName, 1, "", 2);
  out.metadata(kStop, kRuntimeName, 2, "", 1);
  out.metadata(kRestarted, kRuntimeName, 3, "", 1);
  out.metadata(kHeap, kRuntimeName, 4, "", 2);
  out.metadata(kMethod, kRundownName, 144, "", 2);
  out.metadata(kModule, kRundownName, 154, "", 2);
  if (version == 6) {
    out.thread(7, 4321, 70);
    out.thread(8, 4321, 80);
  }
  std::uint32_t numbers[2] = {0, 0};
  std::uint64_t ticks = 1'000'000;
  const std::vector<std::vector<std::uint64_t>> stacks = {
      {0x1010, 0x2020}, {0x3030, 0x1040, 0x2020}, {0x2050}};
  std::vector<NettraceEvent> events;
  const auto add = [&](std::uint32_t kind, std::uint32_t stack, std::vector<std::byte> payload,
                       std::uint32_t thread = 0) {
    NettraceEvent event;
    event.metadata = kind;
    event.capture_thread = event.thread = 7 + thread;
    event.number = ++numbers[thread];
    event.ticks = ticks += 100'000;
    event.stack = stack;
    event.payload = std::move(payload);
    if (version == 3 && stack != 0) {
      event.inline_stack = stacks[stack - 1];
    }
    events.push_back(event);
  };
  const auto flush = [&] {
    out.events(events);
    events.clear();
  };
  for (std::uint32_t round = 0; round < rounds; ++round) {
    if (version > 3) {
      out.stacks(1, stacks);
    }
    for (std::uint32_t i = 0; i < 6; ++i) {
      add(kSample, 1 + i % 3, TestBytes().u32(i == 5 ? 1 : 2).bytes, i % 2);
    }
    add(kAllocation, 2, allocation_event(106'000, "System.String"));
    add(kAllocation, 1, allocation_event(212'000, "System.Byte[]"));
    add(kException, 2, exception_event("System.InvalidOperationException", "not now"));
    add(kWaitStop, 3, TestBytes().u8(0).u16(9).u64(0x40F86A0000000000).bytes);  // 100,000 ns
    add(kSuspend, 0, TestBytes().u32(1).u32(round).u16(9).bytes);
    add(kStart, 0, TestBytes().u32(round + 1).u32(round % 3).u32(0).u32(0).u16(9).u64(0).bytes);
    add(kStop, 0, TestBytes().u32(round + 1).u32(round % 3).u16(9).bytes);
    TestBytes heap;
    for (std::uint64_t i = 1; i <= 8; ++i) {  // size and promoted bytes of each generation
      heap.u64(i << 20);
    }
    heap.u64(0).u64(0).u32(1).u32(0).u32(2).u16(9);
    add(kHeap, 0, heap.bytes);
    add(kRestarted, 0, TestBytes().u16(9).bytes);
    flush();
    if (version > 3) {
      out.sequence_point({{7, numbers[0]}, {8, numbers[1]}});
    }
  }
  add(kMethod, 0, method_event(1, 5, 0x1000, "App.Parser", "Parse"));
  add(kMethod, 0, method_event(2, 5, 0x2000, "App.Program", "Main"));
  add(kMethod, 0, method_event(3, 5, 0x3000, "App.Parser", "Next"));
  add(kModule, 0, module_event(5, "/app/App.dll"));
  flush();
  return out.finish();
}

}  // namespace stackpack::test
