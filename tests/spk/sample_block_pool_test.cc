#include "spk/write/sample_block_pool.h"

#include <algorithm>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "spk/write/value_ranks.h"

namespace stackpack::spk {
namespace {

std::vector<StoredSample> random_samples(std::uint64_t seed, std::size_t count, bool ascending) {
  std::mt19937_64 random(seed);
  std::vector<StoredSample> samples(count);
  std::uint64_t time = 1'000'000;
  for (StoredSample& sample : samples) {
    time += random() % 3;  // equal times now and then
    sample.time_ns = ascending ? time : time + random() % 50;
    sample.pid = static_cast<std::uint32_t>(random() % 5);
    sample.tid = sample.pid + static_cast<std::uint32_t>(random() % 300);
    sample.cpu = static_cast<std::uint32_t>(random() % 7);
    sample.event = static_cast<std::uint32_t>(random() % 2);
    sample.stack = static_cast<StackId>(random() % 40);
  }
  return samples;
}

std::vector<PackedSampleBlock> packed(const std::vector<StoredSample>& samples, unsigned workers,
                                      std::size_t block) {
  std::vector<PackedSampleBlock> blocks;
  SampleBlockPool pool(3, workers, [&blocks](const PackedSampleBlock& written) {
    blocks.push_back(written);
    return Status();
  });
  for (const StoredSample& sample : samples) {
    pool.filling().push_back(sample);
    if (pool.filling().size() == block) {
      REQUIRE(pool.submit());
    }
  }
  REQUIRE(pool.flush());
  return blocks;
}

}  // namespace

TEST_CASE("sample block pool: the same blocks in the same order for any number of threads") {
  for (const bool ascending : {true, false}) {
    CAPTURE(ascending);
    const std::vector<StoredSample> samples = random_samples(9, 60'500, ascending);
    const std::vector<PackedSampleBlock> expected = packed(samples, 0, 1000);
    REQUIRE(expected.size() == 61);
    CHECK(expected.back().samples == 500);
    for (const unsigned workers : {1U, 2U, 5U}) {
      CAPTURE(workers);
      const std::vector<PackedSampleBlock> blocks = packed(samples, workers, 1000);
      REQUIRE(blocks.size() == expected.size());
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        REQUIRE(blocks[i].first_ns == expected[i].first_ns);
        REQUIRE(blocks[i].last_ns == expected[i].last_ns);
        REQUIRE(blocks[i].head == expected[i].head);
        REQUIRE(blocks[i].body == expected[i].body);
      }
    }
  }
}

TEST_CASE("sample block pool: what an encoder did before does not show in a block") {
  const std::vector<StoredSample> samples = random_samples(4, 3000, true);
  const std::vector<StoredSample> last(samples.end() - 1000, samples.end());
  const PackedSampleBlock fresh = packed(last, 0, 1000).front();
  CHECK(packed(samples, 0, 1000).back().body == fresh.body);
}

TEST_CASE(
    "sample block pool: the error of writing a block comes back, and nothing is written then") {
  for (const unsigned workers : {0U, 1U, 2U}) {
    for (const std::size_t failing : {1U, 2U, 7U}) {
      CAPTURE(workers);
      CAPTURE(failing);
      std::size_t writes = 0;
      SampleBlockPool pool(1, workers, [&](const PackedSampleBlock&) {
        return ++writes == failing ? Status(Error{ErrorCode::kIo, failing, "full"}) : Status();
      });
      for (std::size_t i = 0; i < 10; ++i) {
        pool.filling() = random_samples(1, 100, true);
        const Status submitted = pool.submit();
        CHECK((submitted || writes == failing));
      }
      const Status flushed = pool.flush();
      REQUIRE_FALSE(flushed.has_value());
      CHECK(flushed.error().code == ErrorCode::kIo);
      CHECK(flushed.error().offset == failing);
      CHECK(writes == failing);
    }
  }
}

TEST_CASE("value ranks: those of sorting") {
  const std::uint64_t seed = 12;
  std::mt19937_64 random(seed);
  ValueRanks ranks;
  for (const std::uint64_t distinct : {1U, 3U, 200U, 100'000U}) {
    CAPTURE(distinct);
    std::vector<std::uint64_t> values(20'000);
    for (std::uint64_t& value : values) {
      value = random() % distinct * 0x1'0000'0001;
    }
    std::vector<std::uint64_t> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    std::vector<std::uint32_t> of;
    ranks.rank(
        values.size(), [&values](std::size_t i) { return values[i]; }, of);
    REQUIRE(std::equal(sorted.begin(), sorted.end(), ranks.values().begin(), ranks.values().end()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      REQUIRE(sorted[of[i]] == values[i]);
    }
  }
}

}  // namespace stackpack::spk
