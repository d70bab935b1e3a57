// One trace, written in every form that a file can have: the callstacks must be the same.
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/etl_reading.h"
#include "support/source_folder.h"

namespace stackpack::test {
namespace {

using Frames = EtlWriter::Frames;
using etl::CompressionFormat;

// Kernel addresses differ by their upper half only.
std::uint64_t kernel_address(unsigned pointer_size, std::uint64_t low) {
  return pointer_size == 4 ? 0x80000000 + low : 0xFFFFF80080000000 + low;
}

// Some hundred samples on three processors: kernel and user halves, kernel only, user only, a user
// half on another processor than its event, and one user half for several events.
void write_trace(EtlWriter& out, unsigned pointer_size, bool keyed, std::uint32_t samples = 600) {
  std::map<std::pair<bool, std::uint64_t>, Frames> definitions;
  const auto fragment = [&](std::uint16_t cpu, std::uint64_t clock, std::uint64_t event_clock,
                            std::uint32_t tid, const Frames& frames, bool kernel) {
    if (!keyed) {
      out.stack(cpu, clock, event_clock, 40 + tid % 3, tid, frames);
      return;
    }
    // The same key value names a kernel and a user stack.
    const std::uint64_t key = 0x1000 + 16 * (frames.front() % 64);
    definitions[{kernel, key}] = frames;
    out.key_reference(cpu, clock, event_clock, 40 + tid % 3, tid, key, kernel);
  };
  std::uint64_t clock = 2'000'000;
  for (std::uint32_t i = 0; i < samples; ++i) {
    const auto cpu = static_cast<std::uint16_t>(i % 3);
    const std::uint32_t tid = 100 + i % 9;
    clock += 1000;
    const Frames kernel = {kernel_address(pointer_size, 0x100000 + i % 13),
                           kernel_address(pointer_size, 0x200000 + i % 13)};
    const Frames user = {0x400000 + i % 17, 0x500000 + i % 17, 0x600000};
    const bool in_kernel = i % 4 != 0;
    out.sample(cpu, clock, tid, in_kernel ? kernel.front() : user.front());
    if (in_kernel) {
      fragment(cpu, clock + 10, clock, tid, kernel, true);
    }
    if (i % 4 == 2) {  // a second event of the same stay in the kernel
      out.context_switch(cpu, clock + 20, tid, 0);
      fragment(cpu, clock + 30, clock + 20, tid, kernel, true);
    }
    if (i % 4 != 3) {
      fragment(static_cast<std::uint16_t>((cpu + i % 2) % 3), clock + 40, clock, tid, user, false);
    }
  }
  clock += 1000;
  for (const auto& [key, frames] : definitions) {
    out.key_definition(0, ++clock, key.second, frames);
  }
}

// The listing with 32-bit kernel addresses written as their 64-bit counterparts.
std::map<std::string, std::uint64_t> comparable(const EtlReading& reading) {
  std::map<std::string, std::uint64_t> result;
  for (const auto& [line, count] : reading.listing()) {
    std::string wide;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == 'k' && line.compare(i, 9, "kfffff800") != 0) {
        wide += "kfffff800";
      } else {
        wide += line[i];
      }
    }
    result[wide] += count;
  }
  return result;
}

TEST_SUITE_BEGIN("etl forms");

TEST_CASE("pointer size, compression and stack keys do not change the callstacks") {
  std::map<std::string, std::uint64_t> expected;
  for (const unsigned pointer_size : {8U, 4U}) {
    for (const CompressionFormat compression :
         {CompressionFormat::kNone, CompressionFormat::kXpress, CompressionFormat::kXpressHuffman,
          CompressionFormat::kLznt1}) {
      for (const bool keyed : {false, true}) {
        for (const bool wide_processor : {true, false}) {
          CAPTURE(pointer_size);
          CAPTURE(static_cast<int>(compression));
          CAPTURE(keyed);
          CAPTURE(wide_processor);
          EtlOptions options;
          options.pointer_size = pointer_size;
          options.compression = compression;
          options.wide_processor = wide_processor;
          options.old_header_offset = !wide_processor;
          options.buffer_size = 4096;
          const auto file =
              make_etl(options, [&](EtlWriter& out) { write_trace(out, pointer_size, keyed); });
          const auto reading = read_etl(file);
          REQUIRE_FALSE(reading->failed);
          CHECK(reading->accounted());
          CHECK_FALSE(reading->sink.counters.any_loss());
          CHECK(reading->loss("orphan_stacks") == 0);
          CHECK(reading->summary.samples_with_stack == 600);
          CHECK(reading->summary.kernel_only == 150);
          CHECK(reading->summary.user_only == 150);
          CHECK(reading->summary.kernel_and_user == 450);
          CHECK(reading->summary.borrowed_user_halves == 150);
          if (compression != CompressionFormat::kNone) {
            CHECK(reading->summary.compressed_buffers > 5);
          }
          const auto listing = comparable(*reading);
          if (expected.empty()) {
            expected = listing;
            CHECK(expected.size() > 100);
          }
          CHECK(listing == expected);
        }
      }
    }
  }
}

// The files of testdata are what the writer makes of this trace. With STACKPACK_REWRITE_TESTDATA
// set, they are made anew.
TEST_CASE("the stored files are what the writer makes, and read as they should") {
  struct Case {
    std::string name;
    unsigned pointer_size;
    CompressionFormat compression;
    bool keyed;
  };
  for (const Case& example :
       {Case{"sampled.x64.etl", 8, CompressionFormat::kNone, false},
        Case{"sampled.x86.etl", 4, CompressionFormat::kNone, false},
        Case{"sampled.x64.keys.xpress.etl", 8, CompressionFormat::kXpress, true},
        Case{"sampled.x64.huffman.etl", 8, CompressionFormat::kXpressHuffman, false}}) {
    CAPTURE(example.name);
    EtlOptions options;
    options.pointer_size = example.pointer_size;
    options.compression = example.compression;
    options.buffer_size = 2048;
    const auto made = make_etl(options, [&](EtlWriter& out) {
      out.process(0, 1'900'000, 3, 40, 4, "first.exe", "first.exe -x");
      out.thread(0, 1'900'001, 3, 41, 100, "main");
      out.image(0, 1'900'002, 3, 41, 0x400000, 0x300000, "\\Device\\HarddiskVolume2\\first.exe");
      out.volume(0, 1'900'003, "\\Device\\HarddiskVolume2\\", "C:\\");
      write_trace(out, example.pointer_size, example.keyed, 60);
    });
    const std::string path = test::source_folder() + "/testdata/" + example.name;
    if (std::getenv("STACKPACK_REWRITE_TESTDATA") != nullptr) {
      std::ofstream file(path, std::ios::binary);
      for (const std::byte byte : made) {
        file.put(static_cast<char>(byte));
      }
    }
    const auto stored = read_test_file(path);
    CHECK(stored == made);
    const auto reading = read_etl(stored);
    REQUIRE_FALSE(reading->failed);
    CHECK(reading->summary.joined_stacks == 75);
    CHECK(reading->summary.samples_with_stack == 60);
    CHECK_FALSE(reading->sink.counters.any_loss());
  }
}

TEST_CASE("reading ahead on a second thread changes nothing") {
  EtlOptions options;
  options.compression = CompressionFormat::kXpress;
  options.buffer_size = 2048;
  const auto file = make_etl(options, [](EtlWriter& out) { write_trace(out, 8, true); });
  etl::ReadOptions reading;
  const auto ahead = read_etl(file, reading);
  reading.read_ahead = false;
  const auto alone = read_etl(file, reading);
  REQUIRE(ahead->sink.rows.size() == alone->sink.rows.size());
  for (std::size_t i = 0; i < alone->sink.rows.size(); ++i) {
    CHECK(ahead->sink.rows[i].sample == alone->sink.rows[i].sample);
    CHECK(ahead->sink.rows[i].stack == alone->sink.rows[i].stack);
    CHECK(ahead->sink.rows[i].pending == alone->sink.rows[i].pending);
  }
  CHECK(ahead->sink.pending_stacks == alone->sink.pending_stacks);
}

TEST_CASE("a wrong name of the compression is found out and said") {
  for (const CompressionFormat truth :
       {CompressionFormat::kXpress, CompressionFormat::kXpressHuffman, CompressionFormat::kLznt1}) {
    for (const std::uint32_t named : {2U, 3U, 4U}) {
      CAPTURE(static_cast<int>(truth));
      CAPTURE(named);
      EtlOptions options;
      options.compression = truth;
      options.named_compression = named;
      const auto file = make_etl(options, [](EtlWriter& out) { write_trace(out, 8, false); });
      const auto reading = read_etl(file);
      REQUIRE_FALSE(reading->failed);
      const bool lie = named != static_cast<std::uint32_t>(truth);
      CHECK(reading->loss("compression_format_corrected") == (lie ? 1U : 0U));
      CHECK(reading->summary.joined_stacks == 750);
    }
  }
}

TEST_CASE("a small window makes orphans, never other callstacks") {
  const auto file = make_etl({}, [](EtlWriter& out) {
    for (std::uint32_t i = 0; i < 100; ++i) {
      const std::uint64_t clock = 2'000'000 + 1000 * std::uint64_t{i};
      out.sample(0, clock, 7, 0x400000);
      out.sample(1, clock + 1, 8, 0x400000);
      out.stack(0, clock + 2, clock, 5, 7, {0x400000 + i});
    }
  });
  etl::ReadOptions options;
  const auto wide = read_etl(file, options);
  options.event_window = 1;
  const auto narrow = read_etl(file, options);
  CHECK(wide->loss("orphan_stacks") == 0);
  CHECK(narrow->loss("orphan_stacks") == 100);
  CHECK(wide->listing() == narrow->listing());
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
