#include "formats/perf/deferred_chains.h"

#include <doctest/doctest.h>

#include "formats/perf/perf_losses.h"
#include "perf_outcome.h"
#include "support/perf_writer.h"

using namespace stackpack;
using test::kContextKernel;
using test::kContextUser;
using test::kContextUserDeferred;
using test::PerfWriter;

namespace {

perf::WaitingSample waiting(std::uint64_t cookie, std::size_t depth = 1) {
  perf::WaitingSample sample;
  sample.cookie = cookie;
  sample.addresses.resize(depth);
  return sample;
}

test::TestBytes deferred(const PerfWriter& writer, std::uint32_t tid, std::uint64_t cookie,
                         const std::vector<std::uint64_t>& frames) {
  test::TestBytes payload = writer.bytes();
  payload.u64(cookie).u64(frames.size());
  for (const std::uint64_t frame : frames) {
    payload.u64(frame);
  }
  payload.u32(1).u32(tid).u64(999);  // trailer: TID, TIME
  return writer.record(perf::RecordType::kCallchainDeferred, 2, payload);
}

test::TestBytes waiting_sample(const PerfWriter& writer, std::uint32_t tid, std::uint64_t time,
                               std::uint64_t cookie) {
  return writer.sample(1, tid, time, {kContextKernel, 0xf00 + tid, kContextUserDeferred, cookie});
}

}  // namespace

TEST_CASE("perf deferred: samples are kept by thread, oldest first") {
  perf::DeferredChains chains;
  chains.hold(1, waiting(10));
  chains.hold(2, waiting(20));
  chains.hold(1, waiting(11));
  CHECK(chains.take_thread(3).empty());
  const auto taken = chains.take_thread(1);
  REQUIRE(taken.size() == 2);
  CHECK(taken[0].cookie == 10);
  CHECK(taken[1].cookie == 11);
  CHECK(chains.take_oldest()->cookie == 20);
  CHECK_FALSE(chains.take_oldest().has_value());
}

TEST_CASE("perf deferred: a thread that never returns pushes its own oldest samples out") {
  perf::DeferredChains chains;
  chains.hold(2, waiting(7));
  for (std::uint64_t i = 0; i < perf::DeferredChains::kMaxPerThread; ++i) {
    chains.hold(1, waiting(i));
    CHECK_FALSE(chains.take_excess(1).has_value());
  }
  chains.hold(1, waiting(12345));
  const auto excess = chains.take_excess(1);
  REQUIRE(excess.has_value());
  CHECK(excess->cookie == 0);
  CHECK_FALSE(chains.take_excess(1).has_value());
  CHECK(chains.size() == perf::DeferredChains::kMaxPerThread + 1);
}

TEST_CASE("perf deferred: many threads are bounded in bytes") {
  perf::DeferredChains chains;
  constexpr std::size_t kDepth = 8000;
  std::size_t released = 0;
  for (std::uint32_t tid = 0; tid < 2000; ++tid) {
    chains.hold(tid, waiting(tid, kDepth));
    while (const auto excess = chains.take_excess(tid)) {
      CHECK(excess->cookie == released);  // the oldest of all
      ++released;
    }
    REQUIRE(chains.size() * kDepth * 8 <= perf::DeferredChains::kMaxBytes);
  }
  CHECK(released > 1000);
}

TEST_CASE("perf deferred: one record completes all samples with its cookie, and ends the others") {
  const PerfWriter writer;
  const auto capture =
      writer.pipe({test::TestAttr{}},
                  {waiting_sample(writer, 5, 100, 1), waiting_sample(writer, 5, 101, 1),
                   waiting_sample(writer, 5, 102, 9),  // its record is lost
                   waiting_sample(writer, 6, 103, 1),  // another thread's
                   deferred(writer, 5, 1, {0x10, 0x20}), waiting_sample(writer, 5, 104, 2),
                   writer.sample(1, 5, 105, {kContextUser, 0x77}), deferred(writer, 5, 2, {0x30})});
  const auto outcome = test::read_perf(capture);
  REQUIRE(outcome.status.has_value());
  CHECK(outcome.balanced());
  CHECK(outcome.listing() ==
        test::PerfOutcome::Listing{
            {"kf05 u10 u20", 2}, {"kf05", 1}, {"kf06", 1}, {"kf05 u30", 1}, {"u77", 1}});
  CHECK(outcome.count(perf::loss::kDeferredUnmatched) == 2);
  for (const auto& row : outcome.sink->rows) {
    CHECK(((row.sample.flags & kSampleIncomplete) != 0) ==
          (row.stack == "kf05" || row.stack == "kf06"));
  }
}

TEST_CASE("perf deferred: a stack that is only deferred is complete, or an empty chain") {
  const PerfWriter writer;
  const auto only_cookie = [&](std::uint64_t time, std::uint64_t cookie) {
    test::TestBytes payload = writer.bytes();
    payload.u64(0x10).u32(1).u32(5).u64(time).u64(2).u64(kContextUserDeferred).u64(cookie);
    return writer.record(perf::RecordType::kSample, 2, payload);
  };
  const auto capture = writer.pipe(
      {test::TestAttr{}}, {only_cookie(1, 1), only_cookie(2, 2), deferred(writer, 5, 1, {0x10})});
  const auto outcome = test::read_perf(capture);
  REQUIRE(outcome.sink->rows.size() == 2);
  CHECK(outcome.sink->rows[0].stack == "u10");
  CHECK(outcome.sink->rows[0].sample.flags == 0);
  CHECK(outcome.sink->rows[1].sample.origin == StackOrigin::kIpOnly);
  CHECK(outcome.sink->rows[1].sample.flags == (kSampleEmptyChain | kSampleIncomplete));
}

TEST_CASE("perf deferred: samples beyond the cap come out unmerged and are counted") {
  const PerfWriter writer;
  std::vector<test::TestBytes> records;
  constexpr std::uint64_t kSamples = perf::DeferredChains::kMaxPerThread + 3;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    records.push_back(waiting_sample(writer, 5, i, 1));
  }
  records.push_back(deferred(writer, 5, 1, {0x10}));
  const auto outcome = test::read_perf(writer.pipe({test::TestAttr{}}, records));
  CHECK(outcome.listing() == test::PerfOutcome::Listing{{"kf05", 3}, {"kf05 u10", kSamples - 3}});
  CHECK(outcome.count(perf::loss::kDeferredReleasedEarly) == 3);
  CHECK(outcome.count(perf::loss::kDeferredUnmatched) == 3);
}

TEST_CASE("perf deferred: a count that lies is a bad record") {
  const PerfWriter writer;
  for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{1} << 61, ~std::uint64_t{0}}) {
    CAPTURE(count);
    test::TestBytes payload;
    payload.u64(1).u64(count).u32(1).u32(5).u64(0);
    const auto outcome = test::read_perf(writer.pipe(
        {test::TestAttr{}}, {waiting_sample(writer, 5, 1, 1),
                             writer.record(perf::RecordType::kCallchainDeferred, 2, payload)}));
    CHECK(outcome.listing() == test::PerfOutcome::Listing{{"kf05", 1}});
    CHECK(outcome.count(name_of(perf::skip::kBadRecords)) == 1);
  }
}
