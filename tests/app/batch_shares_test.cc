#include <cstdint>

#include <doctest/doctest.h>

#include "app/batch/batch.h"

using stackpack::ConvertOptions;
using stackpack::app::share_out;

TEST_CASE("batch: conversions at a time, and what each of them gets") {
  constexpr std::uint64_t kLeast = stackpack::app::Batch::kLeastMemoryLimit;
  constexpr unsigned kAuto = ConvertOptions::kAutoEncoders;
  struct Case {
    unsigned workers;
    std::size_t jobs;
    unsigned processors;
    std::uint64_t limit;
    unsigned at_a_time;
    std::uint64_t limit_each;
    unsigned encoders;
  };
  const Case cases[] = {
      {8, 1, 8, 8 * kLeast, 1, 8 * kLeast, kAuto},  // one capture has all
      {8, 3, 12, 12 * kLeast, 3, 4 * kLeast, 2},
      {2, 100, 2, 8 * kLeast, 2, 4 * kLeast, 0},
      {8, 100, 64, 3 * kLeast, 3, kLeast, 2},  // rather fewer than too little each
      {8, 100, 16, kLeast / 2, 1, kLeast / 2, kAuto},
      {4, 100, 8, 0, 4, 0, 1},  // no limit
      {0, 0, 8, 0, 1, 0, kAuto},
  };
  for (const Case& one : cases) {
    CAPTURE(one.workers);
    CAPTURE(one.jobs);
    CAPTURE(one.limit);
    ConvertOptions options;
    options.memory_limit = one.limit;
    options.encoders = kAuto;
    CHECK(share_out(options, one.workers, one.jobs, one.processors) == one.at_a_time);
    CHECK(options.at_a_time == one.at_a_time);
    CHECK(options.memory_limit == one.limit_each);
    CHECK(options.encoders == one.encoders);
  }
}
