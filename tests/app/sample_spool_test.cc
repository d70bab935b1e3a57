#include "app/convert/sample_spool.h"

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

using stackpack::Status;
using stackpack::app::SampleSpool;
using stackpack::app::SpooledSample;

namespace {

Status add_to(SampleSpool& spool, const SpooledSample& sample) {
  return spool.add(sample, sample.segment, sample.node, sample.pending);
}

std::vector<SpooledSample> random_samples(std::uint32_t seed, std::size_t count,
                                          std::uint64_t disorder) {
  std::mt19937_64 random(seed);
  std::vector<SpooledSample> samples(count);
  std::uint64_t now = 1'000'000;
  for (std::size_t i = 0; i < count; ++i) {
    SpooledSample& sample = samples[i];
    now += random() % 5;
    sample.time_ns = now - random() % (disorder + 1);
    sample.pid = static_cast<std::uint32_t>(random() % 3);
    sample.tid = static_cast<std::uint32_t>(i);  // tells equal times apart
    sample.cpu =
        random() % 7 == 0 ? stackpack::kUnknownId : static_cast<std::uint32_t>(random() % 4);
    sample.event = static_cast<std::uint32_t>(random() % 2);
    sample.weight = random() % 9 == 0 ? random() : 1;
    sample.flags = static_cast<std::uint8_t>(random() % 32);
    sample.origin = static_cast<stackpack::StackOrigin>(random() % 3);
    sample.node = static_cast<std::uint32_t>(random());
    sample.segment = static_cast<std::uint16_t>(i / 1000);
    sample.pending = random() % 11 == 0 ? static_cast<std::uint32_t>(random() % 1000)
                                        : SpooledSample::kNoPending;
  }
  return samples;
}

std::vector<SpooledSample> sorted_through_spool(const std::vector<SpooledSample>& samples,
                                                std::uint64_t buffer_bytes, bool expect_spill) {
  SampleSpool spool("/tmp", buffer_bytes);
  for (const SpooledSample& sample : samples) {
    REQUIRE(add_to(spool, sample).has_value());
  }
  CHECK(spool.count() == samples.size());
  std::vector<SpooledSample> out;
  REQUIRE(spool
              .merge([&](std::span<const SpooledSample> batch) -> Status {
                out.insert(out.end(), batch.begin(), batch.end());
                return {};
              })
              .has_value());
  CHECK((spool.spilled_bytes() != 0) == expect_spill);
  return out;
}

}  // namespace

TEST_CASE("sample spool: any disorder and any buffer give the stable order by time") {
  struct Case {
    const char* name;
    std::uint64_t disorder;
    std::uint64_t buffer_bytes;
    bool spills;
  };
  const std::vector<Case> cases = {
      {"in order, in memory", 0, 1 << 24, false}, {"in order, spilled", 0, 64 * 100, true},
      {"a little disorder", 50, 64 * 100, true},  {"runs overlap widely", 20'000, 64 * 100, true},
      {"smallest buffer", 20'000, 1, true},
  };
  const std::uint32_t seed = 11;
  CAPTURE(seed);
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const std::vector<SpooledSample> samples = random_samples(seed, 10'000, c.disorder);
    std::vector<SpooledSample> expected = samples;
    std::stable_sort(expected.begin(), expected.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    CHECK(sorted_through_spool(samples, c.buffer_bytes, c.spills) == expected);
  }
}

TEST_CASE("sample spool: samples that run backwards come out forwards") {
  std::vector<SpooledSample> samples = random_samples(3, 5'000, 0);
  std::reverse(samples.begin(), samples.end());
  std::vector<SpooledSample> expected = samples;
  std::stable_sort(expected.begin(), expected.end(),
                   [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  CHECK(sorted_through_spool(samples, 64 * 64, true) == expected);
}

TEST_CASE("sample spool: equal times come by rank, equal ranks as they arrived") {
  for (const std::uint64_t buffer_bytes : {std::uint64_t{64} * 100, std::uint64_t{1} << 24}) {
    CAPTURE(buffer_bytes);
    std::vector<SpooledSample> samples = random_samples(23, 10'000, 100);
    for (SpooledSample& sample : samples) {
      sample.time_ns /= 8;
      sample.pending %= 5;
    }
    std::vector<SpooledSample> expected = samples;
    std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.time_ns, a.pending) < std::tuple(b.time_ns, b.pending);
    });
    SampleSpool spool("/tmp", buffer_bytes, true);
    for (const SpooledSample& sample : samples) {
      REQUIRE(add_to(spool, sample).has_value());
    }
    std::vector<SpooledSample> out;
    REQUIRE(spool
                .merge([&](std::span<const SpooledSample> batch) -> Status {
                  out.insert(out.end(), batch.begin(), batch.end());
                  return {};
                })
                .has_value());
    CHECK(out == expected);
  }
}

TEST_CASE("sample spool: the visitor's error stops the merge") {
  for (const std::uint64_t buffer_bytes : {std::uint64_t{64}, std::uint64_t{1} << 20}) {
    SampleSpool spool("/tmp", buffer_bytes);
    for (const SpooledSample& sample : random_samples(5, 20'000, 10)) {
      REQUIRE(add_to(spool, sample).has_value());
    }
    int visits = 0;
    const Status status = spool.merge([&](std::span<const SpooledSample>) -> Status {
      ++visits;
      return stackpack::Error{stackpack::ErrorCode::kCancelled, stackpack::kNoOffset, "stop"};
    });
    REQUIRE_FALSE(status.has_value());
    CHECK(status.error().code == stackpack::ErrorCode::kCancelled);
    CHECK(visits == 1);
  }
}

TEST_CASE("sample spool: no samples, no visit with samples") {
  CHECK(sorted_through_spool({}, 1 << 20, false).empty());
}
