#include "dag/recent_stacks.h"

#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "dag/builder.h"

namespace stackpack::dag {
namespace {

/// Leaf first, in one mode.
struct OneModeStack {
  explicit OneModeStack(std::vector<std::uint64_t> from, FrameMode mode = FrameMode::kUser)
      : addresses(std::move(from)), run{mode, static_cast<std::uint32_t>(addresses.size())} {}
  [[nodiscard]] capture::StackView view() const { return {addresses, std::span(&run, 1)}; }

  std::vector<std::uint64_t> addresses;
  capture::ModeRun run;
};

/// Looks up and keeps on failure; what was found.
std::uint32_t visit(RecentStacks& recent, const OneModeStack& stack, std::uint32_t node) {
  RecentStacks::Place place;
  const std::uint32_t found = recent.find(stack.view(), place);
  if (found == 0) {
    recent.keep(stack.view(), place, node);
  }
  return found;
}

TEST_SUITE("recent stacks") {
  TEST_CASE("a kept callstack is found again; another depth, frame or mode is another one") {
    RecentStacks recent(RecentStacks::kLeastSlots);
    const OneModeStack stack({1, 2, 3, 4, 5});
    CHECK(visit(recent, stack, 7) == 0);
    CHECK(visit(recent, stack, 8) == 7);
    CHECK(visit(recent, OneModeStack({1, 2, 3, 4}), 9) == 0);
    CHECK(visit(recent, OneModeStack({1, 2, 3, 4, 6}), 10) == 0);
    CHECK(visit(recent, OneModeStack({1, 2, 3, 4, 5}, FrameMode::kKernel), 11) == 0);
    CHECK(visit(recent, OneModeStack({1, 2, 3, 4, 5}, FrameMode::kKernel), 12) == 11);
  }

  TEST_CASE("the deepest that is kept, and one frame more") {
    RecentStacks recent(RecentStacks::kLeastSlots);
    const OneModeStack deepest(std::vector<std::uint64_t>(RecentStacks::kDeepest, 5));
    const OneModeStack deeper(std::vector<std::uint64_t>(RecentStacks::kDeepest + 1, 5));
    CHECK(visit(recent, deepest, 1) == 0);
    CHECK(visit(recent, deepest, 2) == 1);
    CHECK(visit(recent, deeper, 3) == 0);
    CHECK(visit(recent, deeper, 4) == 0);
    CHECK(visit(recent, deepest, 5) == 1);
  }

  TEST_CASE("switched off it finds nothing and takes nothing") {
    RecentStacks recent(0);
    const OneModeStack stack({1, 2, 3});
    CHECK(visit(recent, stack, 1) == 0);
    CHECK(visit(recent, stack, 2) == 0);
    CHECK(recent.memory_bytes() == 0);
    CHECK(RecentStacks(64).memory_bytes() == RecentStacks::bytes_of(64));
  }

  TEST_CASE("a look-up in three steps finds what one in a single step does") {
    RecentStacks recent(RecentStacks::kLeastSlots);
    const OneModeStack known({1, 2, 3, 4, 5});
    const OneModeStack other({1, 2, 3, 4, 6});
    CHECK(visit(recent, known, 7) == 0);
    RecentStacks::Place of_known;
    RecentStacks::Place of_other;
    recent.begin(known.view(), of_known);
    recent.begin(other.view(), of_other);
    recent.fetch(of_known);
    recent.fetch(of_other);
    CHECK(recent.find(known.view(), of_known) == 7);
    CHECK(recent.find(other.view(), of_other) == 0);
    recent.keep(other.view(), of_other, 8);
    CHECK(visit(recent, other, 9) == 8);
  }

  TEST_CASE("what the ring has overwritten is not found, what is left is") {
    constexpr std::uint32_t kSlots = 64;
    constexpr std::uint32_t kDepth = 100;
    constexpr std::uint32_t kHeld = kSlots * RecentStacks::kWordsPerSlot / kDepth;
    const auto stack_of = [](std::uint64_t number) {
      std::vector<std::uint64_t> addresses(kDepth, 0x1000);
      addresses[kDepth / 2] = number;
      return OneModeStack(addresses);
    };
    RecentStacks recent(kSlots);
    for (std::uint32_t i = 1; i <= 500; ++i) {
      CHECK(visit(recent, stack_of(i), i) == 0);
      CHECK(visit(recent, stack_of(i), i) == i);
      RecentStacks::Place place;
      CHECK((i <= kHeld || recent.find(stack_of(i - kHeld).view(), place) == 0));
      const std::uint32_t before = recent.find(stack_of(i - 1).view(), place);
      CHECK((before == i - 1 || before == 0));  // one in `kSlots` has the same slot
    }
  }

  TEST_CASE("where callstacks are new it rests, and tries again later") {
    RecentStacks recent(RecentStacks::kLeastSlots);
    const OneModeStack known({1, 2, 3});
    CHECK(visit(recent, known, 7) == 0);
    std::uint64_t next = 1'000;
    bool rested = false;
    // Half of the look-ups succeed: no rest.
    for (int i = 0; i < 20'000; ++i, next += 2) {
      visit(recent, OneModeStack({next, next + 1}), 9);
      rested = rested || (visit(recent, known, 7) == 0 && visit(recent, known, 7) == 0);
    }
    CHECK_FALSE(rested);
    // One in fifty succeeds.
    for (int i = 0; i < 20'000 && !rested; ++i, next += 2) {
      visit(recent, OneModeStack({next, next + 1}), 9);
      rested = i % 100 == 0 && visit(recent, known, 7) == 0 && visit(recent, known, 7) == 0;
    }
    CHECK(rested);
    bool back = false;
    for (int i = 0; i < 200'000 && !back; ++i) {
      back = visit(recent, known, 7) == 7;
    }
    CHECK(back);
  }

  TEST_CASE("what was overwritten by a callstack of the same hash is not taken for the old one") {
    constexpr std::uint32_t kSlots = 64;
    constexpr std::uint32_t kRing = kSlots * RecentStacks::kWordsPerSlot;
    // As below: two frames of the same hash as two others.
    constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
    const OneModeStack old({0x1000, 0x3000});
    const std::uint64_t y1 = 0x3000 ^ ((2 ^ 0x1000) * kMultiplier) ^ ((2 ^ 0x2000) * kMultiplier);
    const OneModeStack other({0x2000, y1});
    RecentStacks recent(kSlots);
    CHECK(visit(recent, old, 7) == 0);
    RecentStacks::Place of_old;
    recent.begin(old.view(), of_old);
    std::uint64_t next = 0;
    const auto keep_elsewhere = [&](std::vector<std::uint64_t> addresses) {
      RecentStacks::Place place;
      do {
        addresses.back() = ++next;
        recent.begin(OneModeStack(addresses).view(), place);
      } while (place.slot == of_old.slot);
      CHECK(visit(recent, OneModeStack(addresses), 9) == 0);
    };
    for (std::uint32_t words = 2; words < kRing; words += 66) {
      keep_elsewhere(std::vector<std::uint64_t>(66));
    }
    keep_elsewhere({0x2000, y1, 0});  // stands where `old` stood
    CHECK(visit(recent, other, 8) == 0);
  }

  TEST_CASE("callstacks of one hash keep nodes of their own") {
    // The hash of two frames is a chain ((depth ^ x0) * m ^ x1) * m: x1 can make up for any x0.
    constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
    const std::uint64_t x0 = 0x1000;
    const std::uint64_t y0 = 0x2000;
    const std::uint64_t x1 = 0x3000;
    const std::uint64_t y1 = x1 ^ ((2 ^ x0) * kMultiplier) ^ ((2 ^ y0) * kMultiplier);
    const OneModeStack a({x0, x1});
    const OneModeStack b({y0, y1});
    RecentStacks recent(RecentStacks::kLeastSlots);
    CHECK(visit(recent, a, 1) == 0);
    CHECK(visit(recent, b, 2) == 0);  // in the same place, with the same tag
    CHECK(visit(recent, a, 3) == 0);  // so a was replaced
    CHECK(visit(recent, a, 4) == 3);

    Builder builder({});
    for (int round = 0; round < 3; ++round) {
      const auto of_a = builder.intern(a.view(), 1);
      const auto of_b = builder.intern(b.view(), 1);
      REQUIRE(of_a);
      REQUIRE(of_b);
      CHECK(builder.frame(*of_a) == Frame{FrameMode::kUser, x0});
      CHECK(builder.frame(*of_b) == Frame{FrameMode::kUser, y0});
    }
  }
}

}  // namespace
}  // namespace stackpack::dag
