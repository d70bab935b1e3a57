// What payloads of the kernel's events say.
#include "formats/etl/kernel_values.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "formats/etl/file/log_file_header.h"
#include "support/nettrace_writer.h"

namespace stackpack::test {
namespace {

// Reads events of a clock of 10 MHz whose start is 1970.
struct KernelReading {
  capture::ValueRecorder recorder;
  capture::LossCounters losses;
  etl::LogFileHeader header = header_of_1970();
  etl::EtlClock clock{header};
  etl::KernelValues values{&recorder, losses, clock, 10'000'000};

  static etl::LogFileHeader header_of_1970() {
    etl::LogFileHeader header;
    header.frequency = 10'000'000;
    header.clock_type = 1;
    header.start_filetime = 116'444'736'000'000'000;
    return header;
  }

  void event(std::uint8_t group, std::uint8_t type, std::uint16_t version,
             std::uint64_t clock_value, const TestBytes& payload, std::uint8_t pointer_size = 8) {
    etl::EventView view;
    view.group = group;
    view.type = type;
    view.version = version;
    view.clock = clock_value;
    view.pointer_size = pointer_size;
    view.payload = payload.bytes;
    REQUIRE(etl::KernelValues::wants(group, type));
    values.event(view, {}, {kUnknownId, kUnknownId});
  }

  // TIME tid KIND VALUE VALUE ...
  std::vector<std::string> finish() {
    values.finish();
    std::vector<EventValue> rows;
    const Status finished = recorder.finish(losses, [&rows](const EventValue& row) {
      rows.push_back(row);
      return Status();
    });
    CHECK(finished);
    std::vector<std::string> result;
    for (const EventValue& row : rows) {
      const capture::ValueKindRow& kind = capture::value_kinds()[row.kind];
      std::string line = std::to_string(row.time_ns) + ' ' +
                         (row.tid == kUnknownId ? "-" : std::to_string(row.tid)) + ' ' +
                         std::string(kind.name);
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

TEST_SUITE("kernel values") {
  TEST_CASE("kernel values: a read of a disk has bytes, latency, its thread and its file") {
    TestBytes name;
    name.u64(0xF0);
    put_utf16(name, "C:\\a.txt");
    KernelReading reading;
    reading.event(
        1, 10, 3, 500,
        TestBytes().u32(1).u32(0).u32(4096).u32(0).u64(0x2000).u64(0xF0).u64(0xAA).u64(123).u32(
            77));
    reading.event(1, 12, 2, 600, TestBytes().u32(0xBB), 4);
    reading.event(1, 11, 2, 700,
                  TestBytes().u32(0).u32(0).u32(512).u32(0).u64(0).u32(0x11).u32(0xBB).u64(20), 4);
    reading.event(1, 14, 3, 800, TestBytes().u32(0).u32(0).u64(30).u64(0xCC).u32(78));
    reading.event(4, 36, 2, 900, name);
    CHECK(reading.finish() == Lines{"50000 77 disk_io 0 4096 12300 8192 1 C:\\a.txt",
                                    "70000 - disk_io 1 512 2000 0 0 ",
                                    "80000 78 disk_io 2 0 3000 - 0 "});
    CHECK_FALSE(reading.losses.any_loss());
  }

  TEST_CASE("kernel values: images that are loaded, and blocks of heaps") {
    TestBytes image;
    image.u64(0x10000).u64(0x3000).u32(7).u32(1).u32(2).u32(3).u64(0x10000);
    image.u32(0).u32(0).u32(0).u32(0);
    put_utf16(image, "C:\\a.dll");
    TestBytes narrow;
    narrow.u32(0x20000).u32(0x1000).u32(8).u32(1).u32(2).u32(3).u32(0).u32(0).u32(0).u32(0).u32(0);
    put_utf16(narrow, "C:\\b.dll");
    KernelReading reading;
    reading.event(20, 10, 3, 100, image);
    reading.event(20, 2, 2, 200, narrow, 4);
    reading.event(16, 33, 2, 300, TestBytes().u64(0xAA).u64(100).u64(0x1000).u32(2));
    reading.event(16, 34, 2, 400,
                  TestBytes().u32(0xAB).u32(0x3000).u32(0x2000).u32(80).u32(40).u32(2), 4);
    reading.event(16, 36, 2, 500, TestBytes().u64(0xAA).u64(0x1000).u32(2));
    CHECK(reading.finish() ==
          Lines{"10000 - image 0 12288 65536 C:\\a.dll", "20000 - image 1 4096 131072 C:\\b.dll",
                "30000 - heap 0 100 4096 170 -", "40000 - heap 2 80 12288 171 8192",
                "50000 - heap 1 - 4096 170 -"});
    CHECK_FALSE(reading.losses.any_loss());
    reading.event(16, 36, 2, 500, TestBytes().u64(0xAA));
    CHECK(reading.losses.any_loss());
  }

  TEST_CASE("kernel values: an operation on a file lasts until its end, in both layouts") {
    TestBytes created;
    created.u64(0xAA).u64(0xF1).u32(7).u32(0).u32(0).u32(0);
    put_utf16(created, "C:\\new");
    TestBytes named;
    named.u64(0xF0);
    put_utf16(named, "C:\\old");
    KernelReading reading;
    reading.event(4, 32, 2, 10, named);
    reading.event(4, 64, 3, 100, created);
    reading.event(4, 76, 3, 150, TestBytes().u64(0xAA).u64(0).u32(0xC0000034));
    reading.event(4, 67, 3, 200,
                  TestBytes().u64(64).u64(0xAB).u64(0xF1).u64(0xF0).u32(9).u32(512).u32(0));
    reading.event(4, 68, 2, 210,
                  TestBytes().u64(0).u64(0xAC).u64(1).u64(0xF1).u64(0xF0).u32(256).u32(0));
    reading.event(4, 76, 2, 230, TestBytes().u64(0xAC).u64(0).u32(0));
    reading.event(4, 73, 3, 300, TestBytes().u64(0xAD).u64(0xF1).u64(0x99).u32(9));
    CHECK(reading.finish() == Lines{"10000 7 file_io 64 0 5000 - 3221225524 C:\\new",
                                    "20000 9 file_io 67 512 - 64 - C:\\old",
                                    "21000 - file_io 68 256 2000 0 0 C:\\old",
                                    "30000 9 file_io 73 0 - - - "});
  }

  TEST_CASE("kernel values: faults, memory and the network") {
    KernelReading reading;
    reading.event(2, 32, 2, 500,
                  TestBytes().u64(400).u64(0x3000).u64(0x7000).u64(0xF0).u32(5).u32(8192));
    reading.event(2, 98, 2, 510, TestBytes().u32(0x10000).u32(4096).u32(3).u32(0x1000), 4);
    reading.event(6, 10, 2, 520, TestBytes().u32(4).u32(100).u32(1).u32(2).u16(0xBB01).u16(0x5000));
    reading.event(8, 27, 2, 530, TestBytes().u32(4).u32(60).zeros(32).u16(0x3500).u16(0x0100));
    CHECK(reading.finish() == Lines{"50000 5 hard_fault 8192 10000 12288 28672 ",
                                    "51000 - virtual_memory 0 4096 65536 4096",
                                    "52000 - network 0 0 100 443 80",
                                    "53000 - network 1 1 60 53 1"});
  }

  TEST_CASE("kernel values: requests that do not end are forgotten, and counted") {
    KernelReading reading;
    for (std::uint64_t request = 0; request <= etl::KernelValues::kMostRequests; ++request) {
      reading.event(1, 12, 3, 1000, TestBytes().u64(request).u32(7));
    }
    CHECK(reading.losses.count(capture::value_loss::kForgottenRequests) ==
          etl::KernelValues::kMostRequests);
    CHECK(reading.finish().empty());
  }

  TEST_CASE("kernel values: what is too short is counted, and says nothing") {
    KernelReading reading;
    reading.event(1, 10, 3, 1, TestBytes().u32(1));
    reading.event(2, 32, 2, 1, TestBytes().u32(1));
    reading.event(4, 67, 3, 1, TestBytes().u32(1));
    reading.event(6, 10, 2, 1, TestBytes().u32(1));
    CHECK(reading.finish().empty());
    CHECK(reading.losses.count("bad_event_values") == 4);
  }
}

}  // namespace
}  // namespace stackpack::test
