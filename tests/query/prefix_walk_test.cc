#include "query/naming/prefix_walk.h"

#include <cstdint>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::test {
namespace {

using query::PlacedFrame;
using Addresses = std::vector<std::uint64_t>;

/// Steps are addresses summed up from the root; notes what was looked up.
struct Summing {
  query::PrefixWalk<std::uint64_t> walk;
  Addresses asked;
  std::uint64_t ends_at = 0;
  std::uint64_t exact = 0;  // the address of a frame that is no return address

  bool go_on(const Addresses& root_first, std::size_t most_shared = 100) {
    std::vector<Frame> leaf_first;
    for (auto at = root_first.rbegin(); at != root_first.rend(); ++at) {
      leaf_first.push_back({FrameMode::kUser, *at});
    }
    asked.clear();
    return walk.go_on(
        leaf_first,
        [&](std::size_t index) {
          return leaf_first[index].address == exact ? AddressUse::kExact : AddressUse::kReturn;
        },
        [&](const PlacedFrame& placed, std::size_t level,
            const std::uint64_t* caller) -> std::optional<std::uint64_t> {
          CHECK((level == 0) == (caller == nullptr));
          CHECK(placed.frame.address == root_first[level]);
          asked.push_back(placed.frame.address);
          return placed.frame.address == ends_at
                     ? std::nullopt
                     : std::optional(placed.frame.address + (caller == nullptr ? 0 : *caller));
        },
        most_shared);
  }
  [[nodiscard]] Addresses steps() const {
    Addresses steps;
    for (const auto& found : walk.path()) {
      steps.push_back(found.step);
    }
    return steps;
  }
};

TEST_CASE("prefix walk: frames shared with the last callstack from the root are not looked up") {
  Summing sum;
  CHECK(sum.go_on({1, 2, 4}));
  CHECK(sum.asked == Addresses{1, 2, 4});
  CHECK(sum.steps() == Addresses{1, 3, 7});
  CHECK(sum.go_on({1, 2, 8, 4}));
  CHECK(sum.asked == Addresses{8, 4});
  CHECK(sum.steps() == Addresses{1, 3, 11, 15});
  CHECK(sum.go_on({1, 2}));
  CHECK(sum.asked.empty());
  CHECK(sum.steps() == Addresses{1, 3});
  CHECK(sum.go_on({2, 2}));  // alike at the leaf says nothing
  CHECK(sum.asked == Addresses{2, 2});
  CHECK(sum.go_on({}));
  CHECK(sum.steps().empty());
}

TEST_CASE("prefix walk: a frame is another one when its address is used in another way") {
  Summing sum;
  CHECK(sum.go_on({1, 2, 4}));
  sum.exact = 2;  // before another frame than 4
  CHECK(sum.go_on({1, 2, 8}));
  CHECK(sum.asked == Addresses{2, 8});
  CHECK(sum.walk.path()[1].placed.use == AddressUse::kExact);
}

TEST_CASE("prefix walk: forgets, shares no more than allowed, and ends where a look-up does") {
  Summing sum;
  CHECK(sum.go_on({1, 2, 4}));
  CHECK(sum.go_on({1, 2, 4}, 2));
  CHECK(sum.asked == Addresses{4});
  sum.walk.clear();
  CHECK(sum.go_on({1, 2, 4}));
  CHECK(sum.asked == Addresses{1, 2, 4});
  sum.ends_at = 8;
  CHECK_FALSE(sum.go_on({1, 2, 8, 16}));
  CHECK(sum.asked == Addresses{8});
  CHECK(sum.steps() == Addresses{1, 3});
}

}  // namespace
}  // namespace stackpack::test
