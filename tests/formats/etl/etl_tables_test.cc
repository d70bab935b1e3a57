// Processes, threads, images and what else a trace has on the system.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "formats/etl/event/windows_text.h"
#include "formats/etl/system/kernel_tables.h"
#include "support/etl_reading.h"

namespace stackpack::test {
namespace {

constexpr std::uint64_t kStartNs = 1577836800000000000;
constexpr etl::Guid kPdb = etl::make_guid(0x12345678, 0x9abc, 0xdef0, 0x1122, 0x334455667788);

// At 10 MHz from the origin of EtlOptions.
std::uint64_t ns(std::uint64_t clock) {
  return kStartNs + (clock - 1'000'000) * 100;
}

capture::SystemTables tables_of(const std::function<void(EtlWriter&)>& write,
                                const EtlOptions& options = {}) {
  const auto reading = read_etl(make_etl(options, write));
  REQUIRE_FALSE(reading->failed);
  CHECK(reading->loss("bad_system_events") == 0);
  return reading->sink.system_facts.finish();
}

std::string metadata_of(const capture::SystemTables& tables, std::string_view key) {
  for (const MetadataEntry& entry : tables.metadata) {
    if (entry.key == key) {
      return entry.value;
    }
  }
  return "(none)";
}

TEST_SUITE_BEGIN("etl tables");

TEST_CASE("process events of all versions are read") {
  const auto sid = [](TestBytes& bytes, std::uint8_t authorities) {
    bytes.u8(1).u8(authorities).zeros(6).zeros(std::size_t{4} * authorities);
  };
  struct Case {
    std::string_view name;
    unsigned pointer_size;
    std::uint8_t version;
    std::function<void(EtlWriter&, TestBytes&)> payload;
    bool command_line;
  };
  const auto ids = [](TestBytes& bytes) { bytes.u32(50).u32(4).u32(1).u32(0); };
  const Case cases[] = {
      {"v0, 32 bit", 4, 0,
       [&](EtlWriter&, TestBytes& bytes) { bytes.u32(50).u32(4).u32(0).text("a.exe").u8(0); },
       false},
      {"v1, 32 bit, SID after a token user", 4, 1,
       [&](EtlWriter&, TestBytes& bytes) {
         bytes.u32(0x777);
         ids(bytes);
         bytes.u32(0xE1).u32(0);
         sid(bytes, 5);
         bytes.text("a.exe").u8(0);
       },
       false},
      {"v2, 64 bit, no SID", 8, 2,
       [&](EtlWriter&, TestBytes& bytes) {
         bytes.u64(0x777);
         ids(bytes);
         bytes.u32(0).text("a.exe").u8(0);
         put_wide(bytes, "a -b");
       },
       true},
      {"v3, 32 bit, SID after a zeroed token user", 4, 3,
       [&](EtlWriter&, TestBytes& bytes) {
         bytes.u32(0x777);
         ids(bytes);
         bytes.u32(0).u32(0).u32(0);
         sid(bytes, 4);
         bytes.text("a.exe").u8(0);
         put_wide(bytes, "a -b");
       },
       true},
      {"v4, 64 bit, SID", 8, 4,
       [&](EtlWriter&, TestBytes& bytes) {
         bytes.u64(0x777);
         ids(bytes);
         bytes.u64(0x55).u32(9).u64(0xFFFFF8A0004F8EA0).u64(0);
         sid(bytes, 1);
         bytes.text("a.exe").u8(0);
         put_wide(bytes, "a -b");
         put_wide(bytes, "");
         put_wide(bytes, "");
       },
       true},
      {"v5, 64 bit, more after", 8, 5,
       [&](EtlWriter&, TestBytes& bytes) {
         bytes.u64(0x777);
         ids(bytes);
         bytes.u64(0x55).u32(9).u32(0).text("a.exe").u8(0);
         put_wide(bytes, "a -b");
         put_wide(bytes, "");
         put_wide(bytes, "");
         bytes.u64(1);
       },
       true},
  };
  for (const Case& example : cases) {
    CAPTURE(example.name);
    EtlOptions options;
    options.pointer_size = example.pointer_size;
    const auto tables = tables_of(
        [&](EtlWriter& out) {
          TestBytes payload;
          example.payload(out, payload);
          out.system(0, 1'000'010, 3, 1, example.version, 4, 4, payload);
        },
        options);
    REQUIRE(tables.processes.size() == 1);
    const Process& process = tables.processes.front();
    CHECK(process.pid == 50);
    CHECK(process.parent_pid == 4);
    CHECK(process.start_ns == ns(1'000'010));
    CHECK(process.name == "a.exe");
    CHECK(process.command_line == (example.command_line ? "a -b" : ""));
  }
}

TEST_CASE("lives of processes and threads") {
  const auto tables = tables_of([](EtlWriter& out) {
    out.process(0, 1'000'001, 3, 4, 0, "System", "");
    out.thread(0, 1'000'002, 3, 4, 12);
    out.process(0, 1'000'100, 1, 50, 4, "a.exe", "a");
    out.thread(0, 1'000'101, 1, 50, 60, "worker");
    out.thread(0, 1'000'200, 2, 50, 60);
    out.process(0, 1'000'201, 2, 50, 4, "a.exe", "a");
    out.process(0, 1'000'300, 1, 50, 4, "b.exe", "b");
    // The rundown at the end says what is there, and one process that nothing named before.
    out.process(0, 1'000'900, 4, 4, 0, "System", "");
    out.process(0, 1'000'901, 4, 50, 4, "b.exe", "b");
    out.process(0, 1'000'902, 4, 70, 4, "c.exe", "c");
    out.thread(0, 1'000'903, 4, 4, 12);
    out.thread(0, 1'000'904, 4, 70, 71);
  });
  REQUIRE(tables.processes.size() == 4);
  CHECK(tables.processes[0].name == "System");
  CHECK(tables.processes[0].start_ns == kUnknownTime);
  CHECK(tables.processes[1].name == "a.exe");
  CHECK(tables.processes[1].end_ns == ns(1'000'201));
  CHECK(tables.processes[2].name == "b.exe");
  CHECK(tables.processes[2].start_ns == ns(1'000'300));
  CHECK(tables.processes[2].end_ns == kUnknownTime);
  CHECK(tables.processes[3].name == "c.exe");
  CHECK(tables.processes[3].start_ns == kUnknownTime);
  REQUIRE(tables.threads.size() == 3);
  CHECK(tables.threads[0].tid == 12);
  CHECK(tables.threads[1].tid == 60);
  CHECK(tables.threads[1].name == "worker");
  CHECK(tables.threads[1].start_ns == ns(1'000'101));
  CHECK(tables.threads[1].end_ns == ns(1'000'200));
  CHECK(tables.threads[2].tid == 71);
}

TEST_CASE("samples find their process through the thread") {
  const auto reading = read_etl(make_etl({}, [](EtlWriter& out) {
    out.thread(0, 10, 3, 50, 60);
    out.sample(0, 100, 60, 0x1000);
    out.sample(0, 110, 61, 0x1000);
    out.sample(0, 120, 0, 0x1000);
    out.thread(0, 130, 4, 51, 61);
  }));
  REQUIRE(reading->sink.rows.size() == 3);
  CHECK(reading->sink.rows[0].sample.pid == 50);
  CHECK(reading->sink.rows[1].sample.pid == 51);
  CHECK(reading->sink.rows[2].sample.pid == 0);
}

TEST_CASE("images have drive letters and identities") {
  const auto tables = tables_of([](EtlWriter& out) {
    out.image(0, 1'000'010, 3, 50, 0x400000, 0x1000, "\\Device\\HarddiskVolume1\\a.dll");
    out.rsds(0, 1'000'010, 50, 0x400000, kPdb, 3, "a.pdb");
    out.image(0, 1'000'020, 10, 50, 0x500000, 0x2000, "\\Device\\HarddiskVolume10\\b.dll");
    out.image(0, 1'000'030, 2, 50, 0x500000, 0x2000, "\\Device\\HarddiskVolume10\\b.dll");
    out.image(0, 1'000'040, 3, 0, 0xFFFFF80000000000, 0x3000, "\\SystemRoot\\nt.exe");
    out.image(0, 1'000'050, 4, 50, 0x400000, 0x1000, "\\Device\\HarddiskVolume1\\a.dll");
    out.image(0, 1'000'060, 4, 51, 0x600000, 0x1000, "\\Device\\Other\\c.dll");
    out.volume(0, 1'000'070, "\\Device\\HarddiskVolume1\\", "C:\\");
    out.volume(0, 1'000'071, "\\Device\\HarddiskVolume10\\", "D:\\");
    out.volume(0, 1'000'072, "\\SystemRoot\\", "C:\\Windows\\");
  });
  REQUIRE(tables.modules.size() == 4);
  const Module& a = tables.modules[0];
  CHECK(a.path == "C:\\a.dll");
  CHECK(a.start_ns == kUnknownTime);
  CHECK(a.build_id_kind == BuildIdKind::kPdb);
  CHECK(a.debug_name == "a.pdb");
  const std::vector<std::uint8_t> identity = {0x78, 0x56, 0x34, 0x12, 0xbc, 0x9a, 0xf0,
                                              0xde, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66,
                                              0x77, 0x88, 3,    0,    0,    0};
  CHECK(a.build_id == identity);
  CHECK(tables.modules[1].path == "D:\\b.dll");
  CHECK(tables.modules[1].start_ns == ns(1'000'020));
  CHECK(tables.modules[1].end_ns == ns(1'000'030));
  CHECK(tables.modules[2].path == "\\Device\\Other\\c.dll");
  CHECK(tables.modules[3].pid == kKernelPid);
  CHECK(tables.modules[3].path == "C:\\Windows\\nt.exe");
}

TEST_CASE("image events of old versions are read") {
  const etl::Guid image_class = etl::make_guid(0x2cb15d1d, 0x5fc1, 0x11d2, 0xabe1, 0x00a0c911f518);
  EtlOptions options;
  options.pointer_size = 4;
  const auto tables = tables_of(
      [&](EtlWriter& out) {
        TestBytes v0;
        v0.u32(0x400000).u32(0x1000);
        put_wide(v0, "v0.exe");
        out.class_event(0, 10, image_class, 10, 0, 7, 50, v0);
        TestBytes v1;
        v1.u32(0x500000).u32(0x1000).u32(51);
        put_wide(v1, "v1.exe");
        out.class_event(0, 20, image_class, 10, 1, 7, 50, v1);
      },
      options);
  REQUIRE(tables.modules.size() == 2);
  CHECK(tables.modules[0].path == "v0.exe");
  CHECK(tables.modules[0].pid == 50);
  CHECK(tables.modules[1].path == "v1.exe");
  CHECK(tables.modules[1].pid == 51);
}

TEST_CASE("the machine and the session are described") {
  EtlOptions options;
  options.events_lost = 3;
  options.buffers_lost = 2;
  const auto reading = read_etl(make_etl(options, [](EtlWriter& out) {
    TestBytes cpu;
    cpu.u32(3000).u32(8).u32(4096).u32(4096).u32(65536);
    put_wide(cpu, "BUILDER");
    cpu.zeros(600);
    out.system(0, 10, 11, 10, 3, 1, 1, cpu);
    TestBytes interval;
    interval.u32(0).u32(10000).u32(10000);
    put_wide(interval, "Timer");
    out.system(0, 20, 15, 73, 3, 1, 1, interval);
  }));
  const auto tables = reading->sink.system_facts.finish();
  CHECK(metadata_of(tables, "host.name") == "BUILDER");
  CHECK(metadata_of(tables, "memory.total_kb") == "4194304");
  CHECK(metadata_of(tables, "etl.sample_interval_100ns") == "10000");
  CHECK(metadata_of(tables, "os.name") == "Windows");
  CHECK(metadata_of(tables, "os.build") == "19041");
  CHECK(metadata_of(tables, "cpu.count") == "2");
  CHECK(metadata_of(tables, "pointer.size") == "8");
  CHECK(metadata_of(tables, "etl.logger_name") == "synthetic");
  CHECK(metadata_of(tables, "clock.wall_offset_ns") == "0");
  CHECK(reading->loss("recorder_lost_events") == 3);
  CHECK(reading->loss("recorder_lost_buffers") == 2);
  CHECK(reading->sink.counters.any_loss());
}

TEST_CASE("payloads that are too short are counted, whatever their length") {
  struct Case {
    std::uint8_t group;
    std::uint8_t type;
    std::uint8_t version;
    std::string_view counter;
  };
  for (const Case& example :
       {Case{3, 1, 4, "bad_system_events"}, Case{5, 1, 3, "bad_system_events"},
        Case{20, 3, 2, "bad_system_events"}, Case{11, 10, 3, "bad_system_events"},
        Case{15, 46, 2, "bad_profile_events"}, Case{24, 32, 2, "bad_stack_events"},
        Case{24, 37, 2, "bad_stack_events"}, Case{24, 36, 2, "bad_stack_events"},
        Case{5, 36, 4, "bad_context_switches"}}) {
    for (std::size_t size = 0; size < 80; size += 3) {
      CAPTURE(int{example.group});
      CAPTURE(int{example.type});
      CAPTURE(size);
      const auto reading = read_etl(make_etl({}, [&](EtlWriter& out) {
        out.system(0, 10, example.group, example.type, example.version, 1, 1,
                   TestBytes().zeros(size));
      }));
      CHECK_FALSE(reading->failed);
      CHECK(reading->accounted());
      if (size < 3) {
        CHECK(reading->loss(example.counter) == 1);
      }
    }
  }
}

TEST_CASE("UTF-16 becomes UTF-8") {
  struct Case {
    std::string_view name;
    std::vector<std::uint16_t> units;
    std::string_view expected;
  };
  const Case cases[] = {
      {"ASCII", {'a', 'b', 0, 'c'}, "ab"},
      {"two and three bytes", {0xE4, 0x20AC, 0}, "\xC3\xA4\xE2\x82\xAC"},
      {"a pair", {0xD83D, 0xDE00, 0}, "\xF0\x9F\x98\x80"},
      {"a high half alone", {0xD83D, 'x', 0}, "\xEF\xBF\xBDx"},
      {"a low half alone", {0xDE00, 0}, "\xEF\xBF\xBD"},
      {"a high half at the end", {0xD83D}, "\xEF\xBF\xBD"},
      {"without NUL", {'a'}, "a"},
  };
  for (const Case& example : cases) {
    CAPTURE(example.name);
    TestBytes bytes;
    for (const std::uint16_t unit : example.units) {
      bytes.u16(unit);
    }
    bytes::ByteCursor in(bytes.bytes, 0);
    CHECK(etl::read_wide_text(in) == example.expected);
  }
  CHECK(etl::from_ansi("a\xE4") == "a\xC3\xA4");
}

TEST_CASE("UTF-16 becomes UTF-8 wherever the first character stands that is not ASCII") {
  const std::pair<std::uint16_t, std::string_view> odd[] = {
      {0, ""}, {0x7F, "\x7F"}, {0x80, "\xC2\x80"}, {0x100, "\xC4\x80"}, {0xD800, "\xEF\xBF\xBD"}};
  for (const auto& [unit, expected] : odd) {
    for (std::size_t length = 0; length < 80; ++length) {
      for (std::size_t at = 0; at <= length; ++at) {
        TestBytes bytes;
        std::string text;
        for (std::size_t i = 0; i < length; ++i) {
          bytes.u16(i == at ? unit : static_cast<std::uint16_t>('a' + i % 26));
          if (i == at) {
            text += expected;
          } else if (unit != 0 || i < at) {
            text.push_back(static_cast<char>('a' + i % 26));
          }
        }
        bytes::ByteCursor in(bytes.bytes, 0);
        CHECK(etl::read_wide_text(in) == text);
        CHECK(in.remaining() == (unit == 0 && at < length ? 2 * (length - at - 1) : 0));
      }
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
