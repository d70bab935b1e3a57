#include "capture/byte_account.h"

#include <doctest/doctest.h>

using namespace stackpack;
using capture::SkipReason;

TEST_CASE("byte account: it is balanced when each byte is in one place") {
  constexpr SkipReason kCut("record_cut");
  constexpr SkipReason kAuxtrace("auxtrace_data");
  constexpr SkipReason kBad("bad_records");
  capture::ByteAccount account;
  account.total = 100;
  account.parsed = 60;
  account.padding = 10;
  CHECK_FALSE(account.balanced());
  account.skipped.add(kCut, 7);
  account.skipped.add(kAuxtrace, 20);
  account.skipped.add(kAuxtrace, 3);
  account.skipped.add(kBad, 0);
  CHECK(account.balanced());
  CHECK(account.skipped.total() == 30);
  CHECK(account.skipped.of(kAuxtrace) == 23);
  CHECK(account.skipped.of(kBad) == 0);
  // By name, and only those that apply.
  const auto counts = account.skipped.sorted();
  REQUIRE(counts.size() == 2);
  CHECK(counts[0].reason == "auxtrace_data");
  CHECK(counts[0].bytes == 23);
  CHECK(counts[1].reason == "record_cut");
  CHECK(counts[1].bytes == 7);
}

TEST_CASE("byte account: accounts of several parts add up") {
  constexpr SkipReason kCut("record_cut");
  constexpr SkipReason kBad("bad_records");
  capture::ByteAccount account{.total = 10, .parsed = 7, .padding = 1};
  account.skipped.add(kCut, 2);
  capture::ByteAccount other{.total = 20, .parsed = 5, .padding = 4};
  other.skipped.add(kBad, 8);
  other.skipped.add(kCut, 3);
  account.add(other);
  CHECK(account.balanced());
  CHECK(account.total == 30);
  CHECK(account.skipped.of(kCut) == 5);
  CHECK(account.skipped.of(kBad) == 8);
}
