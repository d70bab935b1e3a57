// Branch stacks that come again: what is counted and what is not add up to what came.
#include "capture/branch_stack_memo.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

using namespace stackpack;
using capture::BranchStackMemo;

namespace {

// The content of a stack by its number; numbers that differ in the key alone have the same
// branches.
std::vector<StackedBranch> stack_of(std::uint64_t number, std::size_t depth) {
  std::vector<StackedBranch> stack;
  for (std::uint64_t i = 0; i < depth; ++i) {
    stack.push_back({number / 3, number / 3 + i, i});
  }
  return stack;
}

BranchStackMemo::Key key_of(std::uint64_t number) {
  return {static_cast<std::uint32_t>(number % 3 == 1), 7 + static_cast<unsigned>(number % 3 == 2),
          9};
}

struct Sums {
  std::uint64_t times = 0;
  std::uint64_t latest = 0;
  std::uint64_t first = ~std::uint64_t{0};
  friend bool operator==(const Sums&, const Sums&) = default;

  void add(std::uint64_t count, std::uint64_t time_ns, std::uint64_t offset) {
    times += count;
    latest = std::max(latest, time_ns);
    first = std::min(first, offset);
  }
};

using Content = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::size_t>;

Content content_of(const BranchStackMemo::Key& key, std::span<const StackedBranch> stack) {
  return {key.event, key.user, stack.front().from, stack.size()};
}

}  // namespace

TEST_CASE("branch stack memo: what is counted and what is not add up to what came") {
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1} << 20}) {
    CAPTURE(bytes);
    BranchStackMemo memo;
    memo.configure(bytes);
    std::map<Content, Sums> came;
    std::map<Content, Sums> found;
    std::uint64_t counted = 0;
    std::mt19937_64 random(3);
    const auto take = [&](const BranchStackMemo::Counted& stacks) {
      found[content_of(stacks.key, stacks.stack)].add(stacks.times, stacks.time_ns, stacks.offset);
    };
    for (std::uint64_t i = 0; i < 50'000; ++i) {
      const std::uint64_t number = random() % (random() % 2 == 0 ? 30 : 3'000);
      // Deeper ones later on; some that are too deep.
      const std::size_t depth = number % 50 == 0 ? 65 : i > 20'000 ? 40 : 1 + number % 32;
      const std::vector<StackedBranch> stack = stack_of(number, depth);
      const std::uint64_t time_ns = i ^ 5U;
      came[content_of(key_of(number), stack)].add(1, time_ns, i);
      if (memo.count(key_of(number), stack, time_ns, i, take)) {
        ++counted;
        CHECK(depth < 65);
      } else {
        found[content_of(key_of(number), stack)].add(1, time_ns, i);
      }
    }
    memo.flush(take);
    CHECK(found == came);
    CHECK(counted > (bytes == 0 ? 100 : 20'000));
    const auto before = found;
    memo.flush(take);
    CHECK(found == before);
  }
}

TEST_CASE("branch stack memo: an empty stack is not counted") {
  BranchStackMemo memo;
  memo.configure(4096);
  for (int i = 0; i < 5; ++i) {
    CHECK_FALSE(memo.count({}, {}, 1, 1, [](const BranchStackMemo::Counted&) {}));
  }
}
