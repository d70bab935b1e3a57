#include "cli/human_text.h"

#include <doctest/doctest.h>

namespace stackpack::cli {

TEST_SUITE_BEGIN("cli.human_text");

TEST_CASE("numbers are grouped by thousands") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(grouped(~std::uint64_t{0}) == "18,446,744,073,709,551,615");
}

TEST_CASE("a ratio below one has digits that count, and none is no zero") {
  CHECK(human_ratio(0) == "-");
  CHECK(human_ratio(0.0421) == "0.042x");
  CHECK(human_ratio(0.94) == "0.94x");
  CHECK(human_ratio(0.96) == "1.0x");
  CHECK(human_ratio(39.26) == "39.3x");
}

TEST_CASE("bytes have three digits that count") {
  struct Case {
    const char* name;
    std::uint64_t bytes;
    const char* text;
  };
  const Case cases[] = {
      {"nothing", 0, "0 B"},
      {"the last without a unit", 999, "999 B"},
      {"four digits become the next unit", 1000, "0.98 KiB"},
      {"one KiB", 1024, "1.00 KiB"},
      {"two digits before the point", 12'595, "12.3 KiB"},
      {"three digits before the point", 123'000, "120 KiB"},
      {"MiB", std::uint64_t{4} << 20, "4.00 MiB"},
      {"the largest", ~std::uint64_t{0}, "16.0 EiB"},
  };
  for (const Case& test : cases) {
    CAPTURE(test.name);
    CHECK(human_bytes(test.bytes) == test.text);
  }
}

TEST_CASE("durations change their form with their length") {
  CHECK(human_seconds(0.034) == "0.03 s");
  CHECK(human_seconds(12.34) == "12.3 s");
  CHECK(human_seconds(200.4) == "3 min 20 s");
  CHECK(human_seconds(7500) == "2 h 05 min");
}

TEST_CASE("spans of time have a unit and are whole nanoseconds") {
  struct Case {
    const char* text;
    std::optional<std::uint64_t> span;
  };
  const Case cases[] = {
      {"1ns", 1},
      {"10us", 10'000},
      {"0.5us", 500},
      {"250us", 250'000},
      {"1ms", 1'000'000},
      {"1.5s", 1'500'000'000},
      {"0ms", 0},
      {"1000000s", 1'000'000'000'000'000},
      {"", std::nullopt},
      {"us", std::nullopt},
      {"5", std::nullopt},
      {"1m", std::nullopt},
      {"-1us", std::nullopt},
      {"0.5ns", std::nullopt},
      {"1 us", std::nullopt},
      {"inf s", std::nullopt},
      {"nans", std::nullopt},
      {"1e3us", std::nullopt},
      {"99999999999s", std::nullopt},
  };
  for (const Case& test : cases) {
    CAPTURE(test.text);
    CHECK(parse_time_step(test.text) == test.span);
  }
  CHECK(time_step_text(1) == "1 ns");
  CHECK(time_step_text(250'000) == "250 us");
  CHECK(time_step_text(1'000'000) == "1 ms");
  CHECK(time_step_text(2'000'000'000) == "2 s");
  CHECK(time_step_text(1'000'001) == "1000001 ns");
  CHECK(time_step_text(0) == "0 ns");
}

TEST_CASE("shares keep digits when they are small") {
  CHECK(human_share(1, 0) == "-");
  CHECK(human_share(0, 10) == "0.00 %");
  CHECK(human_share(1, 3) == "33.3 %");
  CHECK(human_share(1, 1000) == "0.100 %");
}

TEST_CASE("sizes are read with their unit") {
  struct Case {
    const char* text;
    std::optional<std::uint64_t> bytes;
  };
  const Case cases[] = {
      {"0", 0},
      {"4096", 4096},
      {"64KiB", 65536},
      {"64K", 65536},
      {"1KB", 1000},
      {"1.5MiB", 1572864},
      {"2GiB", std::uint64_t{2} << 30},
      {"2G", std::uint64_t{2} << 30},
      {"1TB", 1'000'000'000'000},
      {"", std::nullopt},
      {"MiB", std::nullopt},
      {"-1", std::nullopt},
      {"64 MiB", std::nullopt},
      {"64mib", std::nullopt},
      {"1e3", std::nullopt},
      {"99999999999TiB", std::nullopt},
      {"inf", std::nullopt},
      {"nan", std::nullopt},
      {"12x", std::nullopt},
  };
  for (const Case& test : cases) {
    CAPTURE(test.text);
    CHECK(parse_size(test.text) == test.bytes);
  }
}

TEST_CASE("times have nine digits after the point") {
  CHECK(seconds_text(0) == "0.000000000");
  CHECK(seconds_text(12'000'000'345) == "12.000000345");
}

TEST_SUITE_END();

}  // namespace stackpack::cli
