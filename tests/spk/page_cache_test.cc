#include "spk/read/page_cache.h"

#include <atomic>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "spk/read/page_packer.h"

namespace stackpack::spk {
namespace {

// A chain of one frame; how many nodes it has tells pages from each other.
ResidentPage chain_of(std::uint32_t nodes) {
  std::vector<ResidentPage::Node> chain;
  chain.reserve(nodes);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    chain.push_back({0, node == 0 ? nodes : node - 1, 0, false});
  }
  return PagePacker{}.pack(chain, {}, {}, {}, {});
}

bool has(PageCache& cache, std::uint64_t number) {
  return static_cast<bool>(cache.find(number));
}

TEST_SUITE("spk pages") {
  TEST_CASE("page cache: the page that was used longest ago goes first") {
    const std::uint64_t size = chain_of(100).memory_bytes();
    PageCache cache(3 * size, 10);
    for (const std::uint64_t number : {0U, 1U, 2U}) {
      CHECK_FALSE(has(cache, number));
      CHECK(cache.insert(number, chain_of(100))->node_count() == 100);
    }
    CHECK(cache.counters().bytes == 3 * size);
    CHECK(has(cache, 0));
    cache.insert(3, chain_of(100));  // instead of 1
    CHECK(has(cache, 2));
    cache.insert(4, chain_of(100));  // instead of 0
    for (std::uint64_t number = 0; number < 10; ++number) {
      CAPTURE(number);
      CHECK(has(cache, number) == (number >= 2 && number <= 4));
    }
    const CacheCounters counters = cache.counters();
    CHECK(counters.bytes == 3 * size);
    CHECK(counters.hits == 2 + 3);
    CHECK(counters.misses == 3 + 7);
  }

  TEST_CASE("page cache: a page is worth adding when it is missed again soon") {
    PageCache cache(std::uint64_t{6} * kNodesPerPage, 10);
    const auto missed = [&cache](std::uint64_t number) {
      CHECK_FALSE(has(cache, number));
      return cache.worth_adding(number);
    };
    CHECK_FALSE(missed(0));
    CHECK(missed(0));
    CHECK(missed(0));
    CHECK_FALSE(missed(1));
    CHECK_FALSE(missed(2));
    CHECK(missed(0));  // the third miss since
    for (const std::uint64_t number : {3U, 4U, 5U}) {
      CHECK_FALSE(missed(number));
    }
    CHECK_FALSE(missed(0));
    PageCache none(1, 10);
    CHECK_FALSE(has(none, 0));
    CHECK_FALSE(none.worth_adding(0));
    CHECK_FALSE(has(none, 0));
    CHECK_FALSE(none.worth_adding(0));
  }

  TEST_CASE("page cache: pinned pages stay, and what does not fit is not kept") {
    const std::uint64_t size = chain_of(100).memory_bytes();
    PageCache cache(2 * size, 5);
    const PageCache::Pin first = cache.insert(0, chain_of(100));
    PageCache::Pin second = cache.insert(1, chain_of(100));
    CHECK(cache.insert(2, chain_of(100))->node_count() == 100);
    CHECK_FALSE(has(cache, 2));
    CHECK(cache.insert(0, chain_of(50))->node_count() == 100);  // the page that was there first
    second = {};
    CHECK(cache.insert(3, chain_of(4'000))->node_count() == 4'000);  // above the budget
    CHECK(has(cache, 1));
    cache.insert(4, chain_of(100));
    CHECK(has(cache, 0));
    CHECK_FALSE(has(cache, 1));
    CHECK(first->node_count() == 100);
    CHECK(cache.counters().bytes == 2 * size);
  }

  TEST_CASE("page cache: threads that find, add and evict at once") {
    constexpr std::uint64_t kPages = 16;
    constexpr std::uint64_t kRounds = 3'000;
    PageCache cache(4 * chain_of(64 + kPages).memory_bytes(), kPages);
    std::atomic<std::uint64_t> wrong{0};
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      threads.emplace_back([&cache, &wrong, seed] {
        std::uint64_t state = seed;
        for (std::uint64_t round = 0; round < kRounds; ++round) {
          state = state * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
          const std::uint64_t number = (state >> 40) % kPages;
          const auto nodes = static_cast<std::uint32_t>(64 + number);
          PageCache::Pin pin = cache.find(number);
          if (!pin) {
            pin = cache.insert(number, chain_of(nodes));
          }
          wrong += pin->node_count() != nodes || pin->stack_count() != 1 ? 1U : 0U;
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    CHECK(wrong == 0);
    const CacheCounters counters = cache.counters();
    CHECK(counters.hits + counters.misses == 4 * kRounds);
    CHECK(counters.bytes <= 4 * chain_of(64 + kPages).memory_bytes());
  }
}

}  // namespace
}  // namespace stackpack::spk
