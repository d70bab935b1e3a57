#include "app/diff/trace_counts.h"

#include <cstdint>
#include <map>
#include <utility>

#include <doctest/doctest.h>

#include "support/random_stacks.h"

namespace stackpack::test {
namespace {

using Sums = std::map<std::pair<std::uint32_t, StackId>, std::uint64_t>;

Sums drained(app::TraceCounts& counts, const app::TraceNumbers& numbers) {
  Sums sums;
  counts.drain([&](std::uint32_t trace, std::uint64_t sum) {
    REQUIRE(trace < numbers.size());
    CHECK(sums.emplace(std::pair(numbers.context(trace), numbers.stack(trace)), sum).second);
  });
  return sums;
}

}  // namespace

TEST_SUITE("trace counts") {
  TEST_CASE(
      "trace counts: sums of a stretch, in contexts that have an array and in those that share") {
    // So many callstacks that one context has an array of sums, and three have one of numbers.
    constexpr StackId kStacks = 1U << 21;
    app::TraceNumbers numbers(kStacks);
    app::TraceCounts counts(kStacks, numbers);
    Random random(5);
    for (int stretch = 0; stretch < 3; ++stretch) {
      Sums expected;
      for (int i = 0; i < 2'000; ++i) {
        const auto context = static_cast<std::uint32_t>(random.below(6));
        const auto drawn = static_cast<StackId>(random.below(40));
        const StackId stack = drawn == 0 ? kNoStack : kStacks - drawn;
        const std::uint64_t value = random.below(4);
        counts.prefetch(context, stack);
        counts.add(context, stack, value);
        if (value != 0) {
          expected[{context, stack}] += value;
        }
      }
      CHECK(drained(counts, numbers) == expected);
    }
    CHECK(drained(counts, numbers).empty());
    CHECK(numbers.size() == 6 * 40);
  }
}

}  // namespace stackpack::test
