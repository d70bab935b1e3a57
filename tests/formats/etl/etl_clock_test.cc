#include "formats/etl/event/etl_clock.h"

#include <string_view>

#include <doctest/doctest.h>

namespace stackpack::etl {
namespace {

constexpr std::uint64_t kStart = 132223104000000000;  // 2020-01-01
constexpr std::uint64_t kStartNs = 1577836800000000000;

LogFileHeader header_of(std::uint32_t type, std::uint64_t frequency, std::uint32_t mhz) {
  LogFileHeader header;
  header.clock_type = type;
  header.frequency = frequency;
  header.cpu_mhz = mhz;
  header.clock_origin = 5'000'000;
  header.start_filetime = kStart;
  return header;
}

TEST_SUITE_BEGIN("etl clock");

TEST_CASE("clocks become nanoseconds since 1970") {
  struct Case {
    std::string_view name;
    LogFileHeader header;
    std::uint64_t clock;
    std::uint64_t expected;
  };
  const Case cases[] = {
      {"the origin is the start", header_of(1, 10'000'000, 0), 5'000'000, kStartNs},
      {"10 MHz", header_of(1, 10'000'000, 0), 5'000'003, kStartNs + 300},
      {"before the origin", header_of(1, 10'000'000, 0), 4'999'999, kStartNs - 100},
      {"a counter that is no divisor of a second", header_of(1, 14'318'180, 0), 5'000'001,
       kStartNs + 69},
      {"time rounds down before the origin, too", header_of(1, 14'318'180, 0), 4'999'999,
       kStartNs - 70},
      {"ten days at 2.9 GHz do not overflow", header_of(1, 2'900'000'000, 0),
       5'000'000 + std::uint64_t{2'900'000'000} * 864'000, kStartNs + 864'000'000'000'000},
      {"the last tick whose product has 64 bits", header_of(1, 10'000'000, 0),
       5'000'000 + 18'446'744'073, kStartNs + 1'844'674'407'300},
      {"the next one", header_of(1, 10'000'000, 0), 5'000'000 + 18'446'744'074,
       kStartNs + 1'844'674'407'400},
      {"cycle counter", header_of(3, 10'000'000, 2000), 5'000'002, kStartNs + 1},
      {"system time", header_of(2, 10'000'000, 0), kStart + 7, kStartNs + 700},
      {"frequency unknown: 10 MHz", header_of(1, 0, 0), 5'000'001, kStartNs + 100},
  };
  for (const Case& example : cases) {
    CAPTURE(example.name);
    CHECK(EtlClock(example.header).unix_ns(example.clock) == example.expected);
  }
}

TEST_CASE("absurd clocks stay within the numbers that mean something") {
  LogFileHeader header = header_of(1, 1, 0);
  header.clock_origin = 2'000'000'000;  // seconds
  const EtlClock clock(header);
  CHECK(clock.unix_ns(0) == 0);
  CHECK(clock.unix_ns(~std::uint64_t{0}) == ~std::uint64_t{0} - 1);
  CHECK(unix_ns_of_filetime(0) == 0);
  CHECK(unix_ns_of_filetime(~std::uint64_t{0}) == ~std::uint64_t{0} - 1);
}

TEST_CASE("what the header lacks is reported") {
  CHECK(EtlClock(header_of(1, 10'000'000, 0)).frequency_known());
  CHECK_FALSE(EtlClock(header_of(1, 0, 0)).frequency_known());
  CHECK_FALSE(EtlClock(header_of(3, 10'000'000, 0)).frequency_known());
  CHECK(EtlClock(header_of(2, 0, 0)).frequency_known());
  LogFileHeader undated = header_of(1, 10'000'000, 0);
  CHECK(EtlClock(undated).wall_time_known());
  undated.start_filetime = 0;
  CHECK_FALSE(EtlClock(undated).wall_time_known());
  CHECK(EtlClock(undated).unix_ns(5'000'010) == 1000);
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::etl
