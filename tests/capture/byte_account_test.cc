#include "capture/byte_account.h"

#include <set>
#include <string>

#include <doctest/doctest.h>

#include "support/skipped_map.h"
#include "support/source_folder.h"
#include "support/test_bytes.h"

using namespace stackpack;
using capture::SkipReason;

namespace {

constexpr SkipReason reason_number(std::size_t number) {
  return static_cast<SkipReason>(number);
}

}  // namespace

TEST_CASE("byte account: every reason has a name of its own, of small letters") {
  std::set<std::string> names;
  for (std::size_t i = 0; i < capture::kSkipReasons; ++i) {
    const std::string name(name_of(reason_number(i)));
    CAPTURE(name);
    CHECK(name != "unknown");
    CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos);
    CHECK(names.insert(name).second);
  }
}

TEST_CASE("byte account: the manual explains every reason") {
  const std::vector<std::byte> bytes = test::read_test_file(test::source_folder() + "/docs/cli.md");
  std::string manual;
  for (const std::byte byte : bytes) {
    manual.push_back(static_cast<char>(byte));
  }
  for (std::size_t i = 0; i < capture::kSkipReasons; ++i) {
    const std::string name(name_of(reason_number(i)));
    CAPTURE(name);
    CHECK(manual.find("`" + name + "`") != std::string::npos);
  }
}

TEST_CASE("byte account: it is balanced when each byte is in one place") {
  capture::ByteAccount account;
  account.total = 100;
  account.parsed = 60;
  account.padding = 10;
  CHECK_FALSE(account.balanced());
  account.skipped.add(SkipReason::kRecordCut, 7);
  account.skipped.add(SkipReason::kAuxtraceData, 20);
  account.skipped.add(SkipReason::kAuxtraceData, 3);
  account.skipped.add(SkipReason::kBadRecords, 0);
  CHECK(account.balanced());
  CHECK(account.skipped.total() == 30);
  CHECK(account.skipped.of(SkipReason::kAuxtraceData) == 23);
  CHECK(account.skipped.of(SkipReason::kBadRecords) == 0);
  // By name, and only those that apply.
  const auto counts = account.skipped.sorted();
  REQUIRE(counts.size() == 2);
  CHECK(counts[0].reason == "auxtrace_data");
  CHECK(counts[0].bytes == 23);
  CHECK(counts[1].reason == "record_cut");
  CHECK(counts[1].bytes == 7);
}
