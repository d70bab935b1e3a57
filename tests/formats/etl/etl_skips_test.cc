// Which bytes of a trace are passed over, and why.
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "support/etl_reading.h"
#include "support/skipped_map.h"

namespace stackpack::test {
namespace {

constexpr std::uint32_t kSmallBuffer = 1024;
constexpr std::size_t kHeader = 0x48;
constexpr std::size_t kEvent = 32;  // one sample
constexpr std::size_t kEvents = 10;
constexpr std::size_t kUsed = kEvents * kEvent;

// The header buffer and four of ten samples.
std::vector<std::byte> trace(etl::CompressionFormat compression = etl::CompressionFormat::kNone) {
  EtlOptions options;
  options.buffer_size = kSmallBuffer;
  options.compression = compression;
  return make_etl(options, [](EtlWriter& out) {
    for (std::uint32_t buffer = 0; buffer < 4; ++buffer) {
      for (std::uint32_t i = 0; i < kEvents; ++i) {
        out.sample(0, 2'000'000 + 1000 * buffer + 100 * i, 7, 0xFFFFF80000000000 + i);
      }
      out.flush(0);
    }
  });
}

TEST_SUITE_BEGIN("etl skips");

TEST_CASE("bytes that are passed over have their reasons") {
  struct Case {
    std::string_view name;
    std::function<void(std::vector<std::byte>&)> damage;
    SkippedMap expected;
    std::uint64_t samples;  // of 40
  };
  const auto intact = trace();
  REQUIRE(intact.size() == 5 * kSmallBuffer);
  constexpr std::size_t kThird = 2 * std::size_t{kSmallBuffer};
  constexpr std::size_t kFifthEvent = kThird + kHeader + 4 * kEvent;
  constexpr std::size_t kLast = 4 * std::size_t{kSmallBuffer};
  const Case cases[] = {
      {"nothing", [](auto&) {}, {}, 40},
      {"a type without events",
       [](auto& file) { file[kThird + 0x36] = std::byte{7}; },
       {{"buffers_without_events", kSmallBuffer - kHeader}},
       30},
      {"a type without events, and full of events",
       [](auto& file) { file[kThird + 0x36] = std::byte{2}; },
       {},
       40},
      {"a marker of nonsense",
       [](auto& file) { put_u32(file, kFifthEvent, 0x12345678); },
       {{"bad_event_markers", 6 * kEvent}},
       34},
      {"a header of old",
       [](auto& file) { file[kFifthEvent + 2] = std::byte{0x0D}; },
       {{"obsolete_event_headers", 6 * kEvent}},
       34},
      {"a size of zero",
       [](auto& file) { put_u32(file, kFifthEvent + 4, 0); },
       {{"bad_event_sizes", 6 * kEvent}},
       34},
      {"cut in an event",
       [](auto& file) { file.resize(kLast + kHeader + 3 * kEvent + 5); },
       {{"cut_buffers", 5}},
       33},
      {"cut in a header", [](auto& file) { file.resize(kLast + 40); }, {{"cut_buffers", 40}}, 30},
      {"a tail of nonsense",
       [](auto& file) { file.resize(file.size() + 500, std::byte{0xEE}); },
       {{"skipped_tail_bytes", 500}},
       40},
      {"nonsense in place of a buffer",
       [](auto& file) { std::fill_n(file.begin() + kThird, kSmallBuffer, std::byte{0xEE}); },
       {{"skipped_buffer_bytes", kSmallBuffer}},
       30},
  };
  for (const Case& example : cases) {
    CAPTURE(example.name);
    auto file = intact;
    example.damage(file);
    const auto reading = read_etl(file);
    REQUIRE_FALSE(reading->failed);
    CHECK(skipped_map(reading->account) == example.expected);
    CHECK(reading->account.total == file.size());
    CHECK(reading->accounted());
    CHECK(reading->sink.rows.size() == example.samples);
  }
}

TEST_CASE("compressed buffers count with their compressed bytes") {
  const auto intact = trace(etl::CompressionFormat::kXpress);
  std::uint32_t size = 0;  // of the first buffer, after the header buffer
  const std::size_t first = 512;
  std::memcpy(&size, intact.data() + first, sizeof size);
  {
    auto file = intact;
    put_u32(file, first + kHeader, 0xFFFFFFFF);  // the first flags call everything a match
    const auto reading = read_etl(file);
    CHECK(skipped_map(reading->account) == SkippedMap{{"undecodable_buffers", size - kHeader}});
    CHECK(reading->accounted());
  }
  {
    auto file = intact;
    put_u32(file, first + 4, 0x00FFFFFF);
    put_u32(file, first + 0x30, 0x00FFFFFF);
    const auto reading = read_etl(file);
    CHECK(skipped_map(reading->account) == SkippedMap{{"oversized_buffers", size - kHeader}});
    CHECK(reading->accounted());
  }
}

TEST_CASE("an extended item that leaves its event ends the buffer") {
  const auto extended = [](std::uint16_t item_size) {
    auto file = make_etl({}, [](EtlWriter& out) {
      out.provider(0, 2'000'000, etl::Guid{}, 9, 1, 0, 2, 3, TestBytes{},
                   {{6, std::vector<std::byte>(16)}});
      out.sample(0, 2'000'100, 7, 0x1000);
    });
    std::uint32_t header_bytes = 0;
    std::memcpy(&header_bytes, file.data(), sizeof header_bytes);
    std::memcpy(file.data() + header_bytes + kHeader + 0x50 + 6, &item_size, sizeof item_size);
    return file;
  };
  CHECK(read_etl(extended(16))->account.skipped.total() == 0);
  const auto reading = read_etl(extended(400));
  const SkippedMap skipped = skipped_map(reading->account);
  REQUIRE(skipped.size() == 1);
  CHECK(skipped.begin()->first == "bad_extended_items");
  CHECK(skipped.begin()->second >= 0x50 + kEvent);
  CHECK(reading->accounted());
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
