#include "formats/perf/recent_chains.h"

#include <cstring>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

using stackpack::FrameMode;
using stackpack::capture::StackMemo;
using stackpack::perf::RecentChains;

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
bool visit(RecentChains& recent, const std::vector<std::byte>& chain,
           FrameMode mode = FrameMode::kUser, bool fact = false) {
  const StackMemo memo = recent.find(chain, mode);
  if (!memo.known && memo.slot != StackMemo::kNone) {
    recent.keep(chain, mode, memo, fact);
  }
  return memo.known;
}

}  // namespace

TEST_CASE("a chain is known again by all of its bytes and by its mode") {
  RecentChains recent;
  const std::vector<std::byte> chain = chain_of(1);
  CHECK_FALSE(visit(recent, chain));
  CHECK(visit(recent, chain));
  CHECK_FALSE(visit(recent, chain, FrameMode::kKernel));
  for (std::size_t i = 0; i < chain.size(); ++i) {
    std::vector<std::byte> other = chain;
    other[i] ^= std::byte{1};
    CHECK_FALSE(recent.find(other, FrameMode::kUser).known);
  }
  std::vector<std::byte> shorter = chain;
  shorter.resize(chain.size() - 8);
  CHECK_FALSE(recent.find(shorter, FrameMode::kUser).known);
}

TEST_CASE("what was kept with a chain comes back with it") {
  RecentChains recent;
  visit(recent, chain_of(1), FrameMode::kUser, true);
  visit(recent, chain_of(2), FrameMode::kUser, false);
  const StackMemo first = recent.find(chain_of(1), FrameMode::kUser);
  const StackMemo second = recent.find(chain_of(2), FrameMode::kUser);
  REQUIRE((first.known && second.known));
  CHECK(recent.fact(first));
  CHECK_FALSE(recent.fact(second));
}

TEST_CASE("a chain that was looked for and not kept leaves what was there") {
  RecentChains recent;
  visit(recent, chain_of(1));
  for (std::uint64_t seed = 2; seed < 40'000; ++seed) {
    recent.find(chain_of(seed), FrameMode::kUser);
    if (seed % 4 == 0) {
      REQUIRE(recent.find(chain_of(1), FrameMode::kUser).known);
    }
  }
}

TEST_CASE("chains of no entry and of too many are never kept") {
  RecentChains recent;
  CHECK(recent.find({}, FrameMode::kUser).slot == StackMemo::kNone);
  const std::vector<std::byte> longest = chain_of(1, RecentChains::kLongest / 8);
  const std::vector<std::byte> longer = chain_of(1, RecentChains::kLongest / 8 + 1);
  CHECK_FALSE(visit(recent, longest));
  CHECK(visit(recent, longest));
  CHECK_FALSE(visit(recent, longer));
  CHECK(recent.find(longer, FrameMode::kUser).slot == StackMemo::kNone);
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
    CHECK_FALSE(recent.find(chain_of(turn, words - turn % 3), FrameMode::kUser).known);
  }
}

TEST_CASE("where chains are new as a rule the cache rests") {
  RecentChains recent;
  std::uint64_t seed = 0;
  while (recent.find(chain_of(seed), FrameMode::kUser).slot != StackMemo::kNone) {
    REQUIRE(++seed < 10'000);
  }
  std::uint64_t rested = 1;
  while (recent.find(chain_of(seed), FrameMode::kUser).slot == StackMemo::kNone) {
    REQUIRE(++rested < 100'000);
  }
  CHECK(rested > 10'000);
  CHECK_FALSE(visit(recent, chain_of(seed)));
  CHECK(visit(recent, chain_of(seed)));
}
