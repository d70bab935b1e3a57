// Halves of callstacks that wait on disk: what happens when the disk or the sink fails.
#include <cerrno>

#include <doctest/doctest.h>

#include "support/etl_reading.h"
#include "support/failing_source.h"

namespace stackpack::test {
namespace {

constexpr std::uint64_t kKernelHalf = 0xFFFFF80000000000;
constexpr std::uint32_t kHalves = 40'000;

etl::ReadOptions with_little_memory() {
  etl::ReadOptions options;
  options.table_bytes = 0;
  return options;
}

// More kernel halves of one thread than wait in memory; its user half comes at the end.
std::vector<std::byte> crowded_trace() {
  return make_etl({}, [](EtlWriter& out) {
    for (std::uint32_t i = 0; i < kHalves; ++i) {
      const std::uint64_t clock = 100 + 10 * std::uint64_t{i};
      out.sample(0, clock, 7, kKernelHalf + 1);
      out.stack(0, clock + 1, clock, 5, 7, {kKernelHalf + 1, kKernelHalf + 2 + i % 5});
    }
    const std::uint64_t last = 100 + 10 * std::uint64_t{kHalves - 1};
    out.stack(0, last + 5, last, 5, 7, {0x7FF600000001});
  });
}

TEST_SUITE_BEGIN("etl waiting halves");

TEST_CASE("without a place for the scratch file the conversion ends with that error") {
  etl::ReadOptions options = with_little_memory();
  options.scratch_directory = "/nonexistent-directory";
  const auto reading = read_etl(crowded_trace(), options);
  REQUIRE(reading->failed);
  CHECK(reading->error.code == ErrorCode::kIo);
  CHECK(reading->error.os_error == ENOENT);
}

TEST_CASE("a sink that refuses a callstack which waited, on disk or in memory, ends it, too") {
  const auto file = crowded_trace();
  const auto source = io::source_of_memory(file);
  FailingSink endless(FailingSource::kNever);
  REQUIRE(etl::read_capture(*source, endless, with_little_memory()).has_value());
  REQUIRE(endless.calls() >= kHalves);
  // A sample goes when its callstack is complete.
  for (const std::uint64_t before_end :
       {std::uint64_t{1}, std::uint64_t{50}, std::uint64_t{kHalves}}) {
    CAPTURE(before_end);
    FailingSink sink(endless.calls() - before_end);
    const auto account = etl::read_capture(*io::source_of_memory(file), sink, with_little_memory());
    REQUIRE_FALSE(account.has_value());
    CHECK(account.error().code == ErrorCode::kLimit);
    CHECK(account.error().offset == 4711);
    CHECK(sink.calls() == endless.calls() - before_end + 1);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
