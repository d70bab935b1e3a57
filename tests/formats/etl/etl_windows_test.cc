// Buffers of which only a window is in memory read as whole ones do, damaged or not.
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "support/etl_reading.h"
#include "support/skipped_map.h"

namespace stackpack::test {
namespace {

constexpr etl::Guid kWindowGuid =
    etl::make_guid(0x11111111, 0x2222, 0x3333, 0x4444, 0x555555555555);

// Events of all sizes, trace messages between them, on several processors.
std::vector<std::byte> mixed_trace(const EtlOptions& options, std::uint32_t events) {
  return make_etl(options, [events](EtlWriter& out) {
    std::mt19937 random(11);
    for (std::uint32_t i = 0; i < events; ++i) {
      const std::uint64_t clock = 100 + 10 * std::uint64_t{i};
      const auto cpu = static_cast<std::uint16_t>(random() % 3);
      out.sample(cpu, clock, 7 + cpu, kU + i % 100);
      out.stack(cpu, clock + 1, clock, 5, 7U + cpu,
                EtlWriter::Frames(1 + random() % (i % 97 == 0 ? 7000 : 30), kK + 1 + i % 50));
      if (i % 5 == 0) {
        out.message(cpu, static_cast<std::uint16_t>(8 + random() % 200));
        out.provider(cpu, clock + 2, kWindowGuid, 12, 1, 0, 7, 5, TestBytes().zeros(random() % 50),
                     {out.stack_item(0, EtlWriter::Frames(1 + i % 20, kU + 1))});
      }
    }
  });
}

using WindowLine = std::tuple<std::uint64_t, std::uint32_t, std::uint16_t, std::string>;

void check_windows_read_alike(const std::vector<std::byte>& file) {
  etl::ReadOptions options;
  const auto whole = read_etl(file, options);
  options.max_whole_bytes = 0;
  const auto listing_of = [](const EtlReading& reading) {
    std::vector<WindowLine> lines;
    for (const CollectingSink::Row& row : reading.sink.settled()) {
      lines.emplace_back(row.sample.time_ns, row.sample.tid, row.sample.cpu, row.stack);
    }
    return lines;
  };
  for (const std::uint64_t window : {std::uint64_t{0}, options.window_bytes}) {
    CAPTURE(window);
    options.window_bytes = window;
    const auto parts = read_etl(file, options);
    REQUIRE(parts->failed == whole->failed);
    CHECK(listing_of(*parts) == listing_of(*whole));
    CHECK(parts->account.parsed == whole->account.parsed);
    CHECK(parts->account.padding == whole->account.padding);
    CHECK(skipped_map(parts->account) == skipped_map(whole->account));
    CHECK(parts->summary.wpp_messages == whole->summary.wpp_messages);
    CHECK(parts->summary.buffers == whole->summary.buffers);
    CHECK(parts->summary.event_counts == whole->summary.event_counts);
    const auto losses = parts->sink.counters.sorted();
    const auto expected = whole->sink.counters.sorted();
    REQUIRE(losses.size() == expected.size());
    for (std::size_t i = 0; i < losses.size(); ++i) {
      CAPTURE(losses[i].name);
      CHECK(losses[i].name == expected[i].name);
      CHECK(losses[i].count == expected[i].count);
      CHECK(losses[i].first_offset == expected[i].first_offset);
    }
  }
}

EtlOptions large_buffers(etl::CompressionFormat compression) {
  EtlOptions options;
  options.buffer_size = 1 << 18;
  options.compression = compression;
  return options;
}

TEST_SUITE_BEGIN("etl windows");

TEST_CASE("events of all sizes are found through windows, compressed or not") {
  for (const auto compression : {etl::CompressionFormat::kNone, etl::CompressionFormat::kXpress}) {
    const auto file = mixed_trace(large_buffers(compression), 3000);
    REQUIRE(file.size() > (compression == etl::CompressionFormat::kNone ? 1'000'000U : 50'000U));
    check_windows_read_alike(file);
    CHECK(read_etl(file)->summary.wpp_messages == 600);
  }
}

TEST_CASE("damage is found through windows, where it is") {
  const auto file = mixed_trace(large_buffers(etl::CompressionFormat::kNone), 300);
  std::mt19937 random(4);
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    auto damaged = file;
    for (int byte = 0; byte < 20; ++byte) {
      const std::size_t at = 600 + random() % (damaged.size() - 600);
      damaged[at] = static_cast<std::byte>(i % 3 == 0 ? 0xFF : random());
    }
    if (i % 4 == 0) {
      damaged.resize(damaged.size() / 4 + random() % (damaged.size() / 2));
    }
    check_windows_read_alike(damaged);
  }
}

TEST_CASE("without a place for the scratch file a parked compressed buffer ends the reading") {
  const auto file = mixed_trace(large_buffers(etl::CompressionFormat::kXpress), 3000);
  etl::ReadOptions options;
  options.scratch_directory = "/nonexistent-directory";
  CHECK_FALSE(read_etl(file, options)->failed);
  options.max_whole_bytes = 0;
  const auto reading = read_etl(file, options);
  REQUIRE(reading->failed);
  CHECK(reading->error.code == ErrorCode::kIo);
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
