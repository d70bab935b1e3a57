#include "capture/system_recorder.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "capture/module_map.h"

using stackpack::BuildIdKind;
using stackpack::Frame;
using stackpack::FrameMode;
using stackpack::kKernelPid;
using stackpack::kUnknownTime;
using stackpack::Module;
using stackpack::capture::ModuleMap;
using stackpack::capture::SystemRecorder;
using stackpack::capture::SystemTables;

namespace {

Module module_at(std::uint32_t pid, std::uint64_t base, std::uint64_t size, std::uint64_t start,
                 const std::string& path) {
  Module module;
  module.pid = pid;
  module.base = base;
  module.size = size;
  module.start_ns = start;
  module.path = path;
  return module;
}

std::string path_at(const SystemTables& tables, std::uint32_t pid, std::uint64_t time,
                    std::uint64_t address, FrameMode mode = FrameMode::kUser) {
  const ModuleMap map(tables.processes, tables.modules);
  const auto hit = map.find(pid, time, Frame{mode, address});
  return hit ? tables.modules[hit->module].path + "+" + std::to_string(hit->offset) : "";
}

}  // namespace

TEST_CASE("system recorder: a fork inherits name and mappings, an exec drops them") {
  SystemRecorder recorder;
  recorder.process_named(10, kUnknownTime, "shell", false);
  recorder.thread_named(10, 10, kUnknownTime, "shell");
  recorder.module_mapped(module_at(10, 0x1000, 0x1000, kUnknownTime, "/bin/sh"));
  recorder.process_started(11, 10, 100, true);
  recorder.thread_started(11, 11, 100, {10, 10});
  recorder.process_named(11, 200, "tool", true);
  recorder.thread_named(11, 11, 200, "tool");
  recorder.module_mapped(module_at(11, 0x1000, 0x800, 201, "/bin/tool"));
  recorder.process_ended(11, 300);
  recorder.thread_ended(11, 11, 300);
  const SystemTables tables = recorder.finish();

  REQUIRE(tables.processes.size() == 3);
  CHECK(tables.processes[1].name == "shell");
  CHECK(tables.processes[1].start_ns == 100);
  CHECK(tables.processes[1].end_ns == 200);
  CHECK(tables.processes[1].inherits_mappings);
  CHECK(tables.processes[2].name == "tool");
  CHECK(tables.processes[2].parent_pid == 10);
  CHECK(tables.processes[2].end_ns == 300);
  CHECK_FALSE(tables.processes[2].inherits_mappings);
  REQUIRE(tables.threads.size() == 3);
  CHECK(tables.threads[1].name == "shell");
  CHECK(tables.threads[2].name == "tool");
  CHECK(tables.threads[2].end_ns == 300);

  CHECK(path_at(tables, 11, 150, 0x1010) == "/bin/sh+16");
  CHECK(path_at(tables, 11, 250, 0x1010) == "/bin/tool+16");
  CHECK(path_at(tables, 11, 250, 0x1900) == "");
  CHECK(path_at(tables, 10, 250, 0x1900) == "/bin/sh+2304");
}

TEST_CASE("system recorder: an exec that is recorded after what it changed counts from its time") {
  SystemRecorder recorder;
  recorder.module_mapped(module_at(10, 0x1000, 0x1000, kUnknownTime, "/bin/sh"));
  recorder.process_started(11, 10, 100, true);
  recorder.module_mapped(module_at(11, 0x1000, 0x800, 201, "/bin/tool"));
  recorder.process_named(11, 200, "tool", true);
  const SystemTables tables = recorder.finish();
  CHECK(path_at(tables, 11, 150, 0x1010) == "/bin/sh+16");
  CHECK(path_at(tables, 11, 250, 0x1010) == "/bin/tool+16");
  CHECK(path_at(tables, 11, 250, 0x1900) == "");
}

TEST_CASE("system recorder: an exec at the time of the fork leaves one process, with no mappings") {
  for (const std::uint64_t time : {std::uint64_t{100}, kUnknownTime}) {
    CAPTURE(time);
    SystemRecorder recorder;
    recorder.module_mapped(module_at(10, 0x1000, 0x1000, kUnknownTime, "/bin/sh"));
    recorder.process_named(10, kUnknownTime, "shell", false);
    recorder.process_started(11, 10, 100, true);
    recorder.process_named(11, time, "tool", true);
    const SystemTables tables = recorder.finish();
    std::size_t lives = 0;
    for (const auto& process : tables.processes) {
      lives += process.pid == 11 && process.start_ns == 100 ? 1U : 0U;
    }
    CHECK(lives == 1);
    if (time == 100) {
      CHECK(path_at(tables, 11, 150, 0x1010) == "");
    }
  }
}

TEST_CASE("system recorder: a mapping of equal size replaces the one at its place") {
  SystemRecorder recorder;
  recorder.module_mapped(module_at(7, 0x4000, 0x100, 70, "a"));
  recorder.module_mapped(module_at(7, 0x4000, 0x100, 95, "b"));
  const SystemTables tables = recorder.finish();
  REQUIRE(tables.modules.size() == 2);
  CHECK(tables.modules[0].end_ns == 95);
  CHECK(tables.modules[1].end_ns == kUnknownTime);
  CHECK(path_at(tables, 7, 80, 0x4001) == "a+1");
  CHECK(path_at(tables, 7, 100, 0x4001) == "b+1");
}

TEST_CASE("system recorder: facts that come twice become one entry, in whatever order they come") {
  const auto tell = [](SystemRecorder& recorder, std::vector<int> order) {
    for (const int step : order) {
      switch (step) {
        case 0:
          recorder.process_started(7, 1, 50, false);
          break;
        case 1:
          recorder.process_named(7, 60, "a.exe", false);
          break;
        case 2:
          recorder.module_mapped(module_at(7, 0x4000, 0x100, 70, "a.dll"));
          break;
        case 3:
          recorder.module_unmapped(7, 0x4000, 90);
          break;
        case 4:
          recorder.module_mapped(module_at(7, 0x4000, 0x100, 95, "b.dll"));
          break;
        default:
          recorder.process_ended(7, 120);
          break;
      }
    }
  };
  SystemRecorder plain;
  tell(plain, {0, 1, 2, 3, 4, 5});
  const SystemTables expected = plain.finish();
  REQUIRE(expected.modules.size() == 2);
  CHECK(expected.modules[0].end_ns == 90);
  CHECK(expected.modules[1].end_ns == 120);

  std::mt19937 random(7);
  std::vector<int> order = {0, 0, 1, 1, 2, 2, 3, 4, 4, 5};
  for (int round = 0; round < 50; ++round) {
    CAPTURE(round);
    std::shuffle(order.begin(), order.end(), random);
    SystemRecorder shuffled;
    tell(shuffled, order);
    const SystemTables tables = shuffled.finish();
    CHECK(tables.processes == expected.processes);
    CHECK(tables.modules == expected.modules);
  }
}

TEST_CASE("system recorder: another name begins another entry of the thread table") {
  SystemRecorder recorder;
  recorder.thread_named(5, 6, kUnknownTime, "main");
  recorder.thread_named(5, 6, 10, "main");
  recorder.thread_named(5, 6, 20, "worker");
  const SystemTables tables = recorder.finish();
  REQUIRE(tables.threads.size() == 2);
  CHECK(tables.threads[0].end_ns == 20);
  CHECK(tables.threads[1].name == "worker");
  CHECK(tables.threads[1].start_ns == 20);
}

TEST_CASE("system recorder: a reused pid has the mappings of its own life only") {
  SystemRecorder recorder;
  recorder.module_mapped(module_at(9, 0x1000, 0x1000, 10, "old"));
  recorder.process_started(9, 1, 50, false);
  recorder.module_mapped(module_at(9, 0x3000, 0x1000, 60, "new"));
  const SystemTables tables = recorder.finish();
  CHECK(path_at(tables, 9, 20, 0x1000) == "old+0");
  CHECK(path_at(tables, 9, 70, 0x1000) == "");
  CHECK(path_at(tables, 9, 70, 0x3001) == "new+1");
}

TEST_CASE("system recorder: a mapping on top of another wins where both are") {
  SystemRecorder recorder;
  recorder.module_mapped(module_at(3, 0x1000, 0x4000, 10, "large"));
  recorder.module_mapped(module_at(3, 0x2000, 0x1000, 20, "small"));
  const SystemTables tables = recorder.finish();
  CHECK(path_at(tables, 3, 15, 0x2800) == "large+6144");
  CHECK(path_at(tables, 3, 25, 0x2800) == "small+2048");
  CHECK(path_at(tables, 3, 25, 0x3000) == "large+8192");
  CHECK(path_at(tables, 3, 25, 0x5000) == "");
}

TEST_CASE("system recorder: kernel frames look among kernel images only") {
  SystemRecorder recorder;
  recorder.module_mapped(module_at(kKernelPid, 0xffff000000000000, 0x1000, kUnknownTime, "[k]"));
  recorder.module_mapped(module_at(4, 0x1000, 0x1000, kUnknownTime, "app"));
  const SystemTables tables = recorder.finish();
  CHECK(path_at(tables, 4, 1, 0xffff000000000010, FrameMode::kKernel) == "[k]+16");
  CHECK(path_at(tables, 4, 1, 0xffff000000000010, FrameMode::kUser) == "");
  CHECK(path_at(tables, 4, 1, 0x1000, FrameMode::kKernel) == "");
}

TEST_CASE("system recorder: build ids find their modules by path or by base") {
  SystemRecorder recorder;
  recorder.module_mapped(module_at(4, 0x1000, 0x1000, 1, "libc.so"));
  recorder.module_mapped(module_at(4, 0x9000, 0x1000, 1, "app.dll"));
  recorder.build_id_of_path("libc.so", BuildIdKind::kGnu, {1, 2, 3});
  recorder.build_id_of_base(4, 0x9000, BuildIdKind::kPdb, {9, 9}, "app.pdb");
  const SystemTables tables = recorder.finish();
  CHECK(tables.modules[0].build_id == std::vector<std::uint8_t>{1, 2, 3});
  CHECK(tables.modules[1].debug_name == "app.pdb");
  CHECK(tables.modules[1].build_id_kind == BuildIdKind::kPdb);
}

TEST_CASE("system recorder: facts beyond the memory limit are counted, not kept") {
  SystemRecorder recorder;
  recorder.set_memory_limit(4096);
  for (std::uint32_t pid = 0; pid < 1000; ++pid) {
    recorder.process_named(pid, 1, "name" + std::to_string(pid), false);
  }
  CHECK(recorder.forgotten_facts() > 900);
  CHECK(recorder.memory_bytes() <= 4096);
  CHECK(recorder.finish().processes.size() + recorder.forgotten_facts() == 1000);
}

TEST_CASE("system recorder: no kind of fact takes more memory than there is") {
  using Record = void (*)(SystemRecorder&, std::uint32_t, const std::string&);
  struct Kind {
    const char* name;
    bool has_text;
    Record record;
  };
  const std::vector<Kind> kinds = {
      {"thread started", false, [](auto& to, auto i, const auto&) { to.thread_started(1, i, i); }},
      {"thread ended", false, [](auto& to, auto i, const auto&) { to.thread_ended(1, i, i); }},
      {"thread named", true,
       [](auto& to, auto i, const auto& text) { to.thread_named(1, i, i, text); }},
      {"process started", false,
       [](auto& to, auto i, const auto&) { to.process_started(i, 1, i, true); }},
      {"process ended", false, [](auto& to, auto i, const auto&) { to.process_ended(i, i); }},
      {"process named", true,
       [](auto& to, auto i, const auto& text) { to.process_named(i, i, text, true); }},
      {"command line", true,
       [](auto& to, auto i, const auto& text) { to.process_command_line(i, i, text); }},
      {"module mapped", true,
       [](auto& to, auto i, const auto& text) {
         to.module_mapped(module_at(1, i * 64ULL, 64, i, text));
       }},
      {"module unmapped", false,
       [](auto& to, auto i, const auto&) { to.module_unmapped(1, i, i); }},
      {"code mapped", true,
       [](auto& to, auto i, const auto& text) {
         to.code_mapped(module_at(1, i * 64ULL, 64, i, text));
       }},
      {"build id of path", true,
       [](auto& to, auto, const auto& text) {
         to.build_id_of_path(text, BuildIdKind::kGnu, {1, 2, 3});
       }},
      {"build id of base", true,
       [](auto& to, auto i, const auto& text) {
         to.build_id_of_base(1, i, BuildIdKind::kPdb, {9, 9}, text);
       }},
      {"metadata", true, [](auto& to, auto, const auto& text) { to.metadata(text, text); }}};
  constexpr std::uint32_t kFacts = 4000;
  constexpr std::uint64_t kLimit = 100'000;
  for (const auto& [name, has_text, record] : kinds) {
    CAPTURE(name);
    const std::string text(200, 'x');
    SystemRecorder recorder;
    recorder.set_memory_limit(kLimit);
    std::uint64_t before = recorder.memory_bytes();
    for (std::uint32_t i = 1; i <= kFacts; ++i) {
      record(recorder, i, std::to_string(i) + text);
      CHECK(recorder.memory_bytes() >= before);
      before = recorder.memory_bytes();
    }
    CHECK(recorder.forgotten_facts() > 0);
    CHECK(recorder.forgotten_facts() < kFacts);
    // What is kept fits: no fact takes less than two words, or than its text.
    const std::uint64_t kept = kFacts - recorder.forgotten_facts();
    CHECK(kept * (has_text ? text.size() : 2 * sizeof(std::uint64_t)) <= kLimit + 1000);
  }
}

TEST_CASE("module map: an image at the top of the address space does not wrap") {
  SystemRecorder recorder;
  recorder.module_mapped(module_at(kKernelPid, ~std::uint64_t{0} - 15, 0x1000, 0, "top"));
  const SystemTables tables = recorder.finish();
  CHECK(path_at(tables, 1, 1, ~std::uint64_t{0}, FrameMode::kKernel) == "top+15");
  CHECK(path_at(tables, 1, 1, 0x10, FrameMode::kKernel) == "");
}

TEST_CASE("system recorder: memory within a mapped file is a copy of the file, marked") {
  constexpr std::uint32_t kPid = 10;
  const auto in_file = [](std::uint64_t base, std::uint64_t size, std::uint64_t start,
                          std::uint64_t offset) {
    Module module = module_at(kPid, base, size, start, "/bin/prog");
    module.file_offset = offset;
    module.build_id = {1, 2, 3};
    module.build_id_kind = BuildIdKind::kGnu;
    return module;
  };
  SUBCASE("mapped while it runs, twice, and as pieces side by side") {
    SystemRecorder recorder;
    recorder.module_mapped(in_file(0x7000, 0x4000, 5, 0x1000));
    recorder.module_mapped(module_at(kPid, 0x8000, 0x1000, 100, "//anon"));
    recorder.module_mapped(module_at(kPid, 0x8000, 0x1000, 110, "//anon"));
    recorder.module_mapped(module_at(kPid, 0x9000, 0x1000, 120, "/anon_hugepage (deleted)"));
    recorder.module_mapped(module_at(kPid, 0xc000, 0x1000, 130, "//anon"));
    recorder.module_mapped(module_at(kPid, 0xa000, 0x2000, 140, "//anon"));
    const SystemTables tables = recorder.finish();
    for (const std::uint64_t address : {0x7123U, 0x8123U, 0x9123U}) {
      CHECK(path_at(tables, kPid, 200, address) ==
            "/bin/prog+" + std::to_string(address - 0x7000 + 0x1000));
    }
    // Beyond the file, and only in part within it.
    CHECK(path_at(tables, kPid, 200, 0xc000) == "//anon+0");
    CHECK(path_at(tables, kPid, 200, 0xb000) == "//anon+4096");
    REQUIRE(tables.modules.size() == 5);
    CHECK(tables.modules[0].debug_name.empty());
    CHECK(tables.modules[1].debug_name == "//anon");
    CHECK(tables.modules[1].build_id == tables.modules[0].build_id);
    CHECK(tables.modules[2].debug_name == "/anon_hugepage (deleted)");
  }
  SUBCASE("listed when the recording began, in three parts") {
    SystemRecorder recorder;
    recorder.module_mapped(in_file(0x7000, 0x1000, kUnknownTime, 0x1000));
    recorder.module_mapped(module_at(kPid, 0x8000, 0x1000, kUnknownTime, "//anon"));
    recorder.module_mapped(in_file(0x9000, 0x2000, kUnknownTime, 0x3000));
    CHECK(path_at(recorder.finish(), kPid, 200, 0x8123) == "/bin/prog+8483");
  }
  SUBCASE("between parts that do not belong together it stays what it is") {
    SystemRecorder recorder;
    recorder.module_mapped(in_file(0x7000, 0x1000, kUnknownTime, 0x1000));
    recorder.module_mapped(module_at(kPid, 0x8000, 0x1000, kUnknownTime, "//anon"));
    recorder.module_mapped(in_file(0x9000, 0x2000, kUnknownTime, 0x2000));
    CHECK(path_at(recorder.finish(), kPid, 200, 0x8123) == "//anon+291");
  }
}

TEST_CASE("system recorder: a guest's kernel is found in its process, or in process 0") {
  constexpr std::uint64_t kBase = 0xffffffff82000000;
  for (const std::uint32_t owner : {77U, 0U}) {
    CAPTURE(owner);
    SystemRecorder recorder;
    recorder.module_mapped(
        module_at(kKernelPid, 0xffffffff81000000, 0x1000000, kUnknownTime, "[kernel.kallsyms]"));
    recorder.module_mapped(
        module_at(owner, kBase, 0x1000000, kUnknownTime, "[guest.kernel.kallsyms]"));
    recorder.module_mapped(module_at(77, 0x400000, 0x1000, kUnknownTime, "/usr/bin/qemu"));
    const SystemTables tables = recorder.finish();
    CHECK(path_at(tables, 77, 5, kBase + 16, FrameMode::kGuestKernel) ==
          "[guest.kernel.kallsyms]+16");
    CHECK(path_at(tables, 77, 5, 0xffffffff81000010, FrameMode::kGuestKernel).empty());
    CHECK(path_at(tables, 77, 5, kBase + 16, FrameMode::kKernel).empty());
    CHECK(path_at(tables, 77, 5, 0x400010, FrameMode::kGuestKernel).empty());
    CHECK(path_at(tables, 77, 5, 0x400010, FrameMode::kGuestUser).empty());
  }
}
