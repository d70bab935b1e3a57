// Callstacks in extended items: halves that wait for each other, and items that are too short.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/etl_reading.h"

namespace stackpack::test {
namespace {

constexpr std::uint64_t kK = 0xFFFFF80000000000;
constexpr std::uint64_t kU = 0x7FF600000000;
constexpr etl::Guid kSome = etl::make_guid(0x11111111, 0x2222, 0x3333, 0x4444, 0x555555555555);

void item_event(EtlWriter& out, std::uint64_t clock, std::uint32_t tid,
                const std::vector<EtlExtendedItem>& items) {
  out.provider(0, clock, kSome, 12, 1, 0, tid, 5, TestBytes(), items);
}

TEST_SUITE_BEGIN("etl extended items");

TEST_CASE("halves of 32-bit traces join, too") {
  EtlOptions options;
  options.pointer_size = 4;
  const auto reading = read_etl(make_etl(options, [](EtlWriter& out) {
    item_event(out, 100, 7, {out.stack_item(3, {0x80000001})});
    item_event(out, 110, 7, {out.stack_item(3, {0x1000, 0x2000})});
    item_event(out, 120, 7, {out.key_item(4, 0x99)});
    item_event(out, 130, 7, {out.key_item(4, 0x98)});
    out.key_definition(0, 200, 0x98, {0x3000});
    out.key_definition(0, 210, 0x99, {0x80000002});
  }));
  CHECK_FALSE(reading->sink.counters.any_loss());
  CHECK(reading->summary.extended_items == 2);
  CHECK(reading->summary.extended_items_with_match_id == 2);
  CHECK(reading->summary.extended_stacks == 1);
  CHECK(reading->listing().size() == 2);
}

TEST_CASE("halves whose other half never comes are callstacks at the end") {
  const auto reading = read_etl(make_etl({}, [](EtlWriter& out) {
    item_event(out, 100, 7, {out.stack_item(3, {kK + 1})});
    item_event(out, 110, 8, {out.stack_item(3, {kU + 1})});  // another thread's 3
    item_event(out, 120, 7, {out.key_item(3, 0x99)});        // keys match keys
    out.key_definition(0, 200, 0x99, {kK + 2});
  }));
  CHECK(reading->summary.extended_stacks == 2);
  const auto listing = reading->listing();
  CHECK(listing.size() == 3);
  CHECK(listing.count("kfffff80000000001") == 1);
  CHECK(listing.count("u7ff600000001") == 1);
  CHECK(listing.count("kfffff80000000002") == 1);
}

TEST_CASE("items too short for their match id or key are damage, each where it is") {
  const auto reading = read_etl(make_etl({}, [](EtlWriter& out) {
    item_event(out, 100, 7, {{6, std::vector<std::byte>(4)}});
    item_event(out, 110, 7, {{5, std::vector<std::byte>(7)}});
    item_event(out, 120, 7, {{0x11, std::vector<std::byte>(12)}});
    item_event(out, 130, 7, {{0x10, std::vector<std::byte>(11)}});
    item_event(out, 140, 7, {out.stack_item(0, {kK + 1})});
  }));
  CHECK(reading->loss("bad_extended_items") == 4);
  CHECK(reading->summary.extended_items == 1);
  CHECK(reading->listing().size() == 1);
  CHECK(reading->accounted());
}

TEST_CASE("halves may wait in great number, and none is lost") {
  constexpr std::uint32_t kItems = 6000;
  constexpr std::size_t kFrames = 190;
  const auto reading = read_etl(make_etl({}, [](EtlWriter& out) {
    for (std::uint32_t i = 0; i < kItems; ++i) {
      EtlWriter::Frames frames(kFrames, kK + 5);
      frames[0] = kK + 0x1000 + i;
      item_event(out, 100 + 10 * std::uint64_t{i}, 7, {out.stack_item(1 + i, frames)});
    }
  }));
  CHECK(reading->summary.extended_stacks == kItems);
  CHECK(reading->listing().size() == kItems);
  CHECK_FALSE(reading->sink.counters.any_loss());
}

TEST_CASE("keys may wait in great number, and none is lost") {
  constexpr std::uint32_t kItems = (1U << 16) + 500;
  const auto reading = read_etl(make_etl({}, [](EtlWriter& out) {
    for (std::uint32_t i = 0; i < kItems; ++i) {
      item_event(out, 100 + 10 * std::uint64_t{i}, 7, {out.key_item(1 + i, 0x98)});
    }
    out.key_definition(0, 100 + 20 * std::uint64_t{kItems}, 0x98, {kU + 1, kU + 2});
  }));
  CHECK_FALSE(reading->sink.counters.any_loss());
  const auto listing = reading->listing();
  REQUIRE(listing.size() == 1);
  CHECK(listing.begin()->second == kItems);
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
