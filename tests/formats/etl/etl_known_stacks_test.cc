// Callstacks that the reader knows again, and kernel halves that wait beside the lists: neither may
// show in what comes out.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "formats/etl/etl_losses.h"
#include "support/etl_reading.h"

namespace stackpack::test {
namespace {

using Frames = EtlWriter::Frames;

constexpr etl::Guid kClr = etl::make_guid(0xe13c0d23, 0xccbc, 0x4e12, 0x931b, 0xd9cc2eee27e4);

std::unique_ptr<EtlReading> read_both(const std::vector<std::vector<std::byte>>& files,
                                      bool remembers) {
  auto reading = std::make_unique<EtlReading>();
  reading->sink.remembers = remembers;
  std::vector<std::unique_ptr<io::ByteSource>> sources;
  std::vector<io::ByteSource*> inputs;
  for (const auto& file : files) {
    sources.push_back(io::source_of_memory(file));
    inputs.push_back(sources.back().get());
  }
  etl::ReadOptions options;
  options.summary = &reading->summary;
  REQUIRE(etl::read_session(inputs, reading->sink, options).has_value());
  return reading;
}

// Samples of the same addresses, again and again.
std::vector<std::byte> repeating_trace(std::uint8_t pointer_size, std::uint64_t clock_origin) {
  EtlOptions options;
  options.pointer_size = pointer_size;
  options.clock_origin = clock_origin;
  return make_etl(options, [&](EtlWriter& out) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      const std::uint64_t clock = clock_origin + 1000 + 100 * i;
      out.sample(0, clock, 7, 0x80001000);
      out.stack(0, clock + 1, clock, 5, 7, {0x80001000, 0x401000 + i % 2});
      out.provider(0, clock + 2, kClr, 12, 0, 0, 8, 5, TestBytes());
      out.clr_stack(0, clock + 3, kClr, 8, 5, {0x80001000, 0x401000 + i % 2});
    }
  });
}

TEST_SUITE_BEGIN("etl known stacks");

TEST_CASE("equal addresses are the same callstack only where they mean the same") {
  const std::vector<std::vector<std::byte>> files = {repeating_trace(8, 1'000'000),
                                                     repeating_trace(4, 1'000'050)};
  const auto with = read_both(files, true);
  const auto without = read_both(files, false);
  // In the trace of 32 bits the first address is the kernel's; the runtime's are the program's.
  const std::map<std::string, std::uint64_t> expected = {{"k80001000 u401000", 10},
                                                         {"k80001000 u401001", 10},
                                                         {"u80001000 u401000", 30},
                                                         {"u80001000 u401001", 30}};
  CHECK(with->listing() == expected);
  CHECK(without->listing() == expected);
  CHECK(with->sink.known_samples == 80 - 6);  // three readings of two callstacks are new
  CHECK(without->sink.known_samples == 0);
  REQUIRE(with->sink.rows.size() == without->sink.rows.size());
  for (std::size_t i = 0; i < with->sink.rows.size(); ++i) {
    CHECK(with->sink.rows[i].stack == without->sink.rows[i].stack);
    CHECK(with->sink.rows[i].sample == without->sink.rows[i].sample);
  }
}

// More threads than halves stand beside the lists; `deep` frames more in each kernel half.
std::vector<std::byte> crowd_of_threads(std::uint32_t threads, std::size_t deep) {
  return make_etl({}, [&](EtlWriter& out) {
    std::uint64_t clock = 100;
    std::vector<std::uint64_t> second(threads);
    for (std::uint32_t half = 0; half < 3; ++half) {
      for (std::uint32_t i = 0; i < threads; ++i) {
        clock += 10;
        second[i] = half == 1 ? clock : second[i];
        Frames frames(deep, kK + 9);
        frames.push_back(kK + 1 + half);
        out.sample(0, clock, 100 + i, frames.front());
        out.stack(0, clock + 1, clock, 5, 100 + i, frames);
      }
    }
    for (std::uint32_t i = threads; i-- > 0;) {
      out.stack(0, ++clock, second[i], 5, 100 + i, {kU + 1});
    }
  });
}

TEST_CASE("halves of many threads join as they would one thread at a time") {
  for (const std::size_t deep : {0U, 3U, 255U, 256U, 300U}) {
    CAPTURE(deep);
    const auto reading = read_etl(crowd_of_threads(200, deep));
    REQUIRE_FALSE(reading->failed);
    std::string deeper;
    for (std::size_t i = 0; i < deep; ++i) {
      deeper += "kfffff80000000009 ";
    }
    const std::map<std::string, std::uint64_t> expected = {
        {deeper + "kfffff80000000001", 200},
        {deeper + "kfffff80000000002 u7ff600000001", 200},
        {deeper + "kfffff80000000003 u7ff600000001", 200}};
    CHECK(reading->listing() == expected);
    CHECK(reading->summary.stale_kernel_halves == 200);
    CHECK(reading->summary.borrowed_user_halves == 200);
    CHECK(reading->summary.joined_stacks == 600);
    CHECK(reading->loss(etl::loss::kOrphanStacks) == 0);
  }
}

TEST_CASE("halves of keys and of frames leave in the order in which they came") {
  const auto reading = read_etl(make_etl({}, [](EtlWriter& out) {
    for (const std::uint64_t clock : {100U, 200U, 300U, 400U}) {
      out.sample(0, clock, 7, kK);
      if (clock % 200 == 0) {
        out.key_reference(0, clock + 1, clock, 5, 7, 77, true);
      } else {
        out.stack(0, clock + 1, clock, 5, 7, {kK + clock});
      }
    }
    out.stack(0, 410, 100, 5, 7, {kU + 1});
    out.key_definition(0, 500, 77, {kK + 7});
  }));
  REQUIRE_FALSE(reading->failed);
  std::vector<std::string> stacks;
  for (const CollectingSink::Row& row : reading->sink.settled()) {
    stacks.push_back(row.stack);
  }
  CHECK(stacks == std::vector<std::string>{
                      "kfffff80000000064 u7ff600000001", "kfffff80000000007 u7ff600000001",
                      "kfffff8000000012c u7ff600000001", "kfffff80000000007 u7ff600000001"});
}

TEST_CASE("at the end, halves beside the lists remain kernel callstacks") {
  const auto reading = read_etl(make_etl({}, [](EtlWriter& out) {
    for (std::uint32_t i = 0; i < 70; ++i) {
      out.sample(0, 100 + 10 * i, 100 + i, kK + 1);
      out.stack(0, 101 + 10 * i, 100 + 10 * i, 5, 100 + i, {kK + 1, kK + 2});
    }
  }));
  REQUIRE_FALSE(reading->failed);
  CHECK(reading->listing() ==
        std::map<std::string, std::uint64_t>{{"kfffff80000000001 kfffff80000000002", 70}});
  CHECK(reading->summary.kernel_only == 70);
  // A sink may rely on the order: that of the threads.
  for (std::size_t i = 0; i < reading->sink.rows.size(); ++i) {
    CHECK(reading->sink.rows[i].sample.tid == 100 + i);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
