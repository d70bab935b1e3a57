#include "capture/recent_chains.h"

#include <cstring>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

using stackpack::capture::RecentChains;
using stackpack::capture::StackMemo;

namespace {

// A chain of `words` entries that differs from those of other seeds in one entry only.
std::vector<std::byte> chain_of(std::uint64_t seed, std::size_t words = 12) {
  std::vector<std::uint64_t> entries(words);
  std::iota(entries.begin(), entries.end(), 0x400000);
  entries[words / 2] = ~seed;
  std::vector<std::byte> bytes(words * 8);
  std::memcpy(bytes.data(), entries.data(), bytes.size());
  return bytes;
}

// Finds or keeps a chain, as a source does.
bool visit(RecentChains& recent, const std::vector<std::byte>& chain, std::uint8_t reading = 0,
           bool fact = false) {
  const StackMemo memo = recent.find(chain, reading);
  if (!memo.known && memo.slot != StackMemo::kNone) {
    recent.keep(chain, reading, memo, fact);
  }
  return memo.known;
}

}  // namespace

TEST_CASE("a chain is known again by all of its bytes and by how it is read") {
  RecentChains recent;
  const std::vector<std::byte> chain = chain_of(1);
  CHECK_FALSE(visit(recent, chain));
  CHECK(visit(recent, chain));
  CHECK_FALSE(visit(recent, chain, 1));
  for (std::size_t i = 0; i < chain.size(); ++i) {
    std::vector<std::byte> other = chain;
    other[i] ^= std::byte{1};
    CHECK_FALSE(recent.find(other, 0).known);
  }
  std::vector<std::byte> shorter = chain;
  shorter.resize(chain.size() - 8);
  CHECK_FALSE(recent.find(shorter, 0).known);
}

TEST_CASE("what was kept with a chain comes back with it") {
  RecentChains recent;
  visit(recent, chain_of(1), 0, true);
  visit(recent, chain_of(2), 0, false);
  const StackMemo first = recent.find(chain_of(1), 0);
  const StackMemo second = recent.find(chain_of(2), 0);
  REQUIRE((first.known && second.known));
  CHECK(recent.fact(first));
  CHECK_FALSE(recent.fact(second));
}

TEST_CASE("a chain that was looked for and not kept leaves what was there") {
  RecentChains recent;
  visit(recent, chain_of(1));
  for (std::uint64_t seed = 2; seed < 40'000; ++seed) {
    recent.find(chain_of(seed), 0);
    if (seed % 4 == 0) {
      REQUIRE(recent.find(chain_of(1), 0).known);
    }
  }
}

TEST_CASE("chains of no entry and of too many are never kept") {
  RecentChains recent;
  CHECK(recent.find({}, 0).slot == StackMemo::kNone);
  const std::vector<std::byte> longest = chain_of(1, RecentChains::kLongest / 8);
  const std::vector<std::byte> longer = chain_of(1, RecentChains::kLongest / 8 + 1);
  CHECK_FALSE(visit(recent, longest));
  CHECK(visit(recent, longest));
  CHECK_FALSE(visit(recent, longer));
  CHECK(recent.find(longer, 0).slot == StackMemo::kNone);
}

TEST_CASE("a chain whose bytes were written over is not known") {
  RecentChains recent;
  // Chains that are kept come back all the time, so that the cache does not rest; the others take
  // the whole ring several times.
  const std::size_t words = RecentChains::kLongest / 8;
  const std::size_t turns = 3 * RecentChains::kBytes / RecentChains::kLongest;
  std::size_t known = 0;
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    CHECK_FALSE(visit(recent, chain_of(turn, words - turn % 3)));
    known += visit(recent, chain_of(turn, words - turn % 3)) ? 1U : 0U;
  }
  CHECK(known == turns);
  for (std::uint64_t turn = 0; turn < turns / 2; ++turn) {
    CHECK_FALSE(recent.find(chain_of(turn, words - turn % 3), 0).known);
  }
}

TEST_CASE("where chains are new as a rule the cache rests") {
  RecentChains recent;
  std::uint64_t seed = 0;
  while (recent.find(chain_of(seed), 0).slot != StackMemo::kNone) {
    REQUIRE(++seed < 10'000);
  }
  std::uint64_t rested = 1;
  while (recent.find(chain_of(seed), 0).slot == StackMemo::kNone) {
    REQUIRE(++rested < 100'000);
  }
  CHECK(rested > 10'000);
  CHECK_FALSE(visit(recent, chain_of(seed)));
  CHECK(visit(recent, chain_of(seed)));
}

TEST_CASE("chains that are prepared in groups get the answers that they would get one by one") {
  RecentChains single;
  RecentChains grouped;
  constexpr std::size_t kGroup = 7;
  std::uint64_t state = 1;
  std::uint64_t known = 0;
  std::uint64_t unknown = 0;
  for (std::uint64_t group = 0; group < 20'000; ++group) {
    const auto reading = static_cast<std::uint8_t>(group % 2);
    std::vector<std::vector<std::byte>> chains;
    std::vector<std::uint64_t> prepared;
    for (std::size_t i = 0; i < kGroup; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      // New ones only for a while, so that the cache rests; before and after that few different
      // ones, the first of a group twice; some are too long to be kept.
      const bool fresh = group > 2'000 && group < 4'000;
      const std::uint64_t seed = fresh ? 1'000'000 + group * kGroup + i : (state >> 33) % 3'000;
      chains.push_back(i == 4 ? chains.front() : chain_of(seed, seed % 97 == 0 ? 600 : 12));
      prepared.push_back(grouped.prepare(chains.back(), reading));
    }
    for (const std::uint64_t one : prepared) {
      grouped.fetch(one);
    }
    for (std::size_t i = 0; i < kGroup; ++i) {
      const StackMemo one = single.find(chains[i], reading);
      const StackMemo other = grouped.find(chains[i], reading, prepared[i]);
      REQUIRE(one.slot == other.slot);
      REQUIRE(one.known == other.known);
      (one.known ? known : unknown) += 1;
      if (!one.known && one.slot != StackMemo::kNone) {
        single.keep(chains[i], reading, one, false);
        grouped.keep(chains[i], reading, other, false);
      }
    }
  }
  CHECK(known > 10'000);
  CHECK(unknown > 10'000);
}
