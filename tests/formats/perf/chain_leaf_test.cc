// The leaf of a callstack is where the sample was taken, and records without times keep their
// order.
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "capture/module_map.h"
#include "formats/perf/perf_losses.h"
#include "perf_outcome.h"
#include "support/perf_writer.h"

using namespace stackpack;
using perf::RecordType;
using test::kContextKernel;
using test::kContextUser;
using test::PerfWriter;
using test::TestBytes;

namespace {

constexpr std::uint16_t kInKernel = 1;
constexpr std::uint16_t kInUser = 2;
constexpr std::uint16_t kExactIp = 1U << 14;
constexpr std::uint64_t kAskedPrecise = std::uint64_t{1} << 15;  // of the attribute's flags

TestBytes sample_at(const PerfWriter& w, std::uint16_t misc, std::uint64_t ip,
                    const std::vector<std::uint64_t>& chain) {
  TestBytes payload = w.bytes();
  payload.u64(ip).u32(7).u32(7).u64(100).u64(chain.size());
  for (const std::uint64_t entry : chain) {
    payload.u64(entry);
  }
  return w.record(RecordType::kSample, misc, payload);
}

// Records of a capture whose events have no TIME.
struct Untimed {
  PerfWriter w;
  test::TestAttr attr;
  std::vector<TestBytes> records;

  Untimed() {
    attr.sample_type =
        perf::sample_bit::kIp | perf::sample_bit::kTid | perf::sample_bit::kCallchain;
  }
  void side(RecordType type, TestBytes payload, std::uint32_t pid) {
    payload.u32(pid).u32(pid);  // the trailer
    records.push_back(w.record(type, 0, payload));
  }
  void map(std::uint32_t pid, std::uint64_t base, std::string_view path) {
    TestBytes payload = w.bytes();
    payload.u32(pid).u32(pid).u64(base).u64(0x1000).u64(0).text(path).u8(0).pad_to(8);
    side(RecordType::kMmap, payload, pid);
  }
  void life(RecordType type, std::uint32_t pid, std::uint32_t parent) {
    TestBytes payload = w.bytes();
    payload.u32(pid).u32(parent).u32(pid).u32(parent).u64(888'000'000'000);
    side(type, payload, pid);
  }
  void sample(std::uint32_t pid, std::uint64_t ip) {
    TestBytes payload = w.bytes();
    payload.u64(ip).u32(pid).u32(pid).u64(2).u64(kContextUser).u64(ip);
    records.push_back(w.record(RecordType::kSample, kInUser, payload));
  }

  // The images in which the samples are, in the order of the file.
  [[nodiscard]] std::vector<std::string> images() const {
    const test::PerfOutcome outcome = test::read_perf(w.file({attr}, records));
    REQUIRE(outcome.status.has_value());
    const capture::SystemTables tables = outcome.sink->system_facts.finish();
    const capture::ModuleMap map(tables.processes, tables.modules);
    std::vector<std::string> found;
    for (const auto& row : outcome.sink->rows) {
      const std::uint64_t address = std::stoull(row.stack.substr(1), nullptr, 16);
      const auto hit = map.find(row.sample.pid, row.sample.time_ns, {FrameMode::kUser, address});
      found.push_back(hit ? tables.modules[hit->module].path : "");
    }
    return found;
  }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("perf chains: the instruction pointer is the leaf where the chain does not begin at it") {
  struct Case {
    std::string name;
    std::uint16_t misc;
    std::uint64_t ip;
    std::vector<std::uint64_t> chain;
    std::string stack;
    std::uint64_t counted;
  };
  const PerfWriter w;
  for (const Case& c : std::vector<Case>{
           {"user frames alone", kInKernel, 0xf1, {kContextUser, 0x10, 0x20}, "kf1 u10 u20", 1},
           {"precise event", kInUser, 0x0e, {kContextUser, 0x10, 0x20}, "ue u10 u20", 1},
           {"user mode before the interrupt", kInUser, 0x0e, {kContextKernel, 0xf1}, "ue kf1", 1},
           {"as it is", kInKernel, 0xf1, {kContextKernel, 0xf1, kContextUser, 1}, "kf1 u1", 0},
           {"no instruction pointer", kInUser, 0, {kContextUser, 0x10}, "u10", 0},
           {"a marker for one", kInUser, kContextUser, {kContextUser, 0x10}, "u10", 0}}) {
    for (const bool remembers : {true, false}) {
      CAPTURE(c.name);
      CAPTURE(remembers);
      const TestBytes one = sample_at(w, c.misc, c.ip, c.chain);
      const TestBytes other = sample_at(w, kInUser, 0x10, {kContextUser, 0x10, 0x20});
      const auto capture = w.file({test::TestAttr{}}, {one, other, one, other, one});
      test::PerfOutcome outcome;
      outcome.sink->remembers = remembers;
      perf::Input input;
      input.main = io::source_of_memory(capture);
      REQUIRE(perf::read_capture(input, *outcome.sink, {}).has_value());
      CHECK(outcome.listing() == test::PerfOutcome::Listing{{c.stack, 3}, {"u10 u20", 2}});
      CHECK(outcome.count(perf::loss::kChainsWithoutIp) == 3 * c.counted);
    }
  }
}

TEST_CASE("perf chains: a precise event has its leaf once") {
  struct Case {
    std::string name;
    std::uint16_t misc;
    std::uint64_t ip;
    std::vector<std::uint64_t> chain;
    std::string stack;
  };
  const PerfWriter w;
  const std::vector<Case> cases{
      {"instructions later", kInUser, 0x1000, {kContextUser, 0x1010, 0x9000}, "u1000 u9000"},
      {"a loop before", kInUser, 0x1010, {kContextUser, 0x1000, 0x9000}, "u1010 u9000"},
      {"in a function called since",
       kInUser,
       0x1000,
       {kContextUser, 0x50000, 0x1005, 0x9000},
       "u1000 u9000"},
      {"back in the caller",
       kInUser,
       0x1000,
       {kContextUser, 0x50000, 0x9000},
       "u1000 u50000 u9000"},
      {"in the kernel since",
       kInUser,
       0x1000,
       {kContextKernel, 0xf1, kContextUser, 0x1010},
       "u1000 kf1 u1010"},
      {"of the kernel", kInKernel, 0xf1, {kContextKernel, 0xf8, kContextUser, 0x1010}, "kf1 u1010"},
      {"a leaf alone", kInUser, 0x1000, {kContextUser, 0x1001}, "u1000"}};
  for (const Case& c : cases) {
    for (const bool asked : {true, false}) {
      CAPTURE(c.name);
      CAPTURE(asked);
      test::TestAttr attr;
      attr.flags |= asked ? kAskedPrecise : 0;
      const auto misc = static_cast<std::uint16_t>(asked ? c.misc : c.misc | kExactIp);
      const TestBytes one = sample_at(w, misc, c.ip, c.chain);
      const test::PerfOutcome outcome = test::read_perf(w.file({attr}, {one, one}));
      CHECK(outcome.listing() == test::PerfOutcome::Listing{{c.stack, 2}});
      CHECK(outcome.count(perf::loss::kChainsWithoutIp) == 2);
    }
  }
}

TEST_CASE("perf chains: a record's word that its ip is precise is of that record") {
  const PerfWriter w;
  const std::vector<std::uint64_t> chain{kContextUser, 0x1010, 0x9000};
  const TestBytes precise = sample_at(w, kInUser | kExactIp, 0x1000, chain);
  const TestBytes other = sample_at(w, kInUser, 0x1000, chain);
  const auto outcome =
      test::read_perf(w.file({test::TestAttr{}}, {precise, other, precise, other}));
  CHECK(outcome.listing() ==
        test::PerfOutcome::Listing{{"u1000 u1010 u9000", 2}, {"u1000 u9000", 2}});
}

TEST_CASE("perf chains: the processor's call stack begins at the instruction pointer") {
  const PerfWriter w;
  test::TestAttr attr;
  attr.sample_type =
      perf::sample_bit::kIp | perf::sample_bit::kCallchain | perf::sample_bit::kBranchStack;
  attr.branch_sample_type = perf::branch_bit::kCallStack;
  TestBytes payload = w.bytes();
  payload.u64(0x14).u64(2).u64(kContextUser).u64(0x14);
  payload.u64(2).u64(0x20).u64(0x10).u64(0).u64(0x30).u64(0x1f).u64(0);
  const auto outcome =
      test::read_perf(w.file({attr}, {w.record(RecordType::kSample, kInUser, payload)}));
  CHECK(outcome.listing() == test::PerfOutcome::Listing{{"u14 u20 u30", 1}});
  CHECK(outcome.count(perf::loss::kChainsWithoutIp) == 0);
}

TEST_CASE("perf without times: mappings count from their place in the file on") {
  Untimed file;
  file.map(7, 0x1000, "/one");
  file.sample(7, 0x1100);
  file.map(7, 0x1000, "/two");
  file.sample(7, 0x1100);
  file.map(7, 0x1000, "/one");
  file.sample(7, 0x1100);
  file.map(7, 0x1000, "/three");  // nothing of it is seen
  file.map(7, 0x1000, "/two");
  file.sample(7, 0x1100);
  CHECK(file.images() == Names{"/one", "/two", "/one", "/two"});
}

TEST_CASE("perf without times: a fork inherits what is mapped by then, an exit ends nothing") {
  Untimed file;
  file.map(7, 0x1000, "/one");
  file.life(RecordType::kFork, 8, 7);
  file.map(7, 0x1000, "/two");
  file.sample(8, 0x1100);
  file.sample(7, 0x1100);
  file.life(RecordType::kExit, 8, 7);
  file.sample(8, 0x1100);  // from the buffer of another processor
  file.life(RecordType::kFork, 8, 7);
  file.sample(8, 0x1100);
  CHECK(file.images() == Names{"/one", "/two", "/one", "/two"});
}

TEST_CASE("perf without times: the file says so, and samples keep their order") {
  Untimed file;
  for (const std::uint64_t ip : {0x30U, 0x10U, 0x20U}) {
    file.sample(7, ip);
  }
  const auto outcome = test::read_perf(file.w.file({file.attr}, file.records));
  CHECK(test::metadata_of(outcome)["samples.untimed"] == "1");
  REQUIRE(outcome.sink->rows.size() == 3);
  CHECK(outcome.sink->rows[0].sample.time_ns < outcome.sink->rows[1].sample.time_ns);
  CHECK(outcome.sink->rows[1].sample.time_ns < outcome.sink->rows[2].sample.time_ns);
  const auto timed = test::read_perf(
      PerfWriter().file({test::TestAttr{}}, {sample_at(PerfWriter(), kInUser, 1, {1})}));
  CHECK_FALSE(test::metadata_of(timed).contains("samples.untimed"));
}
