#include "formats/perf/attr.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "formats/perf/perf_event_names.h"
#include "support/perf_writer.h"

using namespace stackpack;

namespace {

test::TestAttr rich_attr(std::uint32_t size) {
  test::TestAttr attr;
  attr.type = 4;
  attr.config = 0x1a8;
  attr.read_format = 0x14;
  attr.flags = perf::attr_flag::kSampleIdAll | perf::attr_flag::kExcludeKernel |
               (std::uint64_t{2} << 15);  // precise_ip 2
  attr.branch_sample_type = perf::branch_bit::kCallStack;
  attr.sample_regs_user = 0xff;
  attr.sample_regs_intr = 0xf;
  attr.size = size;
  return attr;
}

}  // namespace

TEST_CASE("perf attr: every size from the oldest to one of the future; the missing tail is zero") {
  struct Case {
    std::uint32_t size;
    bool branch_type;
    bool user_registers;
    bool interrupt_registers;
  };
  const Case cases[] = {{64, false, false, false}, {72, false, false, false},
                        {80, true, false, false},  {96, true, true, false},
                        {104, true, true, true},   {112, true, true, true},
                        {136, true, true, true},   {144, true, true, true},
                        {152, true, true, true},   {4096, true, true, true}};
  for (const Case& c : cases) {
    CAPTURE(c.size);
    const auto bytes = test::PerfWriter().attr(rich_attr(c.size)).bytes;
    const auto attr = perf::read_attr(bytes::ByteCursor(bytes, 0));
    REQUIRE(attr.has_value());
    CHECK(attr->config == 0x1a8);
    CHECK(attr->read_format == 0x14);
    CHECK(attr->branch_sample_type == (c.branch_type ? perf::branch_bit::kCallStack : 0));
    CHECK(attr->sample_regs_user == (c.user_registers ? 0xff : 0));
    CHECK(attr->sample_regs_intr == (c.interrupt_registers ? 0xf : 0));
  }
}

TEST_CASE("perf attr: what a sample stands for where it does not say it itself") {
  constexpr std::uint64_t kFrequency = perf::attr_flag::kFrequency;
  const auto period_of = [](std::uint32_t type, std::uint64_t config, std::uint64_t period,
                            std::uint64_t flags, std::uint64_t bits = 0) {
    test::TestAttr attr;
    attr.type = type;
    attr.config = config;
    attr.period = period;
    attr.flags |= flags;
    attr.sample_type |= bits;
    const auto bytes = test::PerfWriter().attr(attr).bytes;
    return perf::read_attr(bytes::ByteCursor(bytes, 0))->fixed_period();
  };
  CHECK(period_of(0, 0, 1'000'003, 0) == 1'000'003);                   // cycles, perf record -c
  CHECK(period_of(1, 0, 250'000, 0) == 250'000);                       // cpu-clock
  CHECK(period_of(1, 1, 4000, kFrequency) == 250'000);                 // task-clock, -F 4000
  CHECK(period_of(0, 0, 4000, kFrequency) == 1);                       // the kernel chooses
  CHECK(period_of(1, 2, 4000, kFrequency) == 1);                       // page-faults
  CHECK(period_of(1, 0, 2'000'000'000, kFrequency) == 1);              // damaged
  CHECK(period_of(2, 372, 1, 0) == 1);                                 // a tracepoint: every event
  CHECK(period_of(1, 0, 0, 0) == 1);                                   // counted, not sampled
  CHECK(period_of(1, 0, 250'000, 0, perf::sample_bit::kPeriod) == 1);  // samples say it
}

TEST_CASE("perf attr: shorter than the oldest is refused") {
  const std::vector<std::byte> bytes(63);
  CHECK_FALSE(perf::read_attr(bytes::ByteCursor(bytes, 0)).has_value());
}

TEST_CASE("perf attr: a big-endian writer's attribute is the same, flags and precision included") {
  const auto little = test::PerfWriter().attr(rich_attr(112)).bytes;
  test::TestAttr swapped = rich_attr(112);
  // The two bits of precise_ip keep their order in a field that begins at the other end.
  swapped.flags = (swapped.flags & ~(std::uint64_t{3} << 15)) | (std::uint64_t{1} << 15);
  const auto big = test::PerfWriter(bytes::ByteOrder::kBig).attr(swapped).bytes;
  const auto a = perf::read_attr(bytes::ByteCursor(little, 0));
  const auto b = perf::read_attr(bytes::ByteCursor(big, 0, bytes::ByteOrder::kBig));
  REQUIRE(a.has_value());
  REQUIRE(b.has_value());
  CHECK(a->precise_ip == 2);
  CHECK(b->precise_ip == 2);
  CHECK(b->has_flag(perf::attr_flag::kSampleIdAll));
  CHECK(b->has_flag(perf::attr_flag::kExcludeKernel));
  CHECK_FALSE(b->has_flag(perf::attr_flag::kExcludeUser));
  CHECK(b->branch_sample_type == a->branch_sample_type);
}

TEST_CASE("perf attr: events without a name are called as perf calls them") {
  struct Case {
    std::string name;
    std::uint32_t type;
    std::uint64_t config;
    std::uint64_t flags;
    unsigned precise;
  };
  using namespace perf::attr_flag;
  const Case cases[] = {
      {"cycles", 0, 0, 0, 0},
      {"cycles:u", 0, 0, kExcludeKernel | kExcludeHv, 0},
      {"cycles:ppp", 0, 0, 0, 3},
      {"instructions:kp", 0, 1, kExcludeUser | kExcludeHv, 1},
      {"ref-cycles", 0, 9, 0, 0},
      {"type-0/config=0xa/", 0, 10, 0, 0},
      {"cycles", 0, 0x400000000, 0, 0},
      {"cpu-clock", 1, 0, 0, 0},
      {"context-switches", 1, 3, 0, 0},
      {"dummy", 1, 9, 0, 0},
      {"cgroup-switches", 1, 11, 0, 0},
      {"tracepoint:314", 2, 314, 0, 0},
      {"L1-dcache-load-misses", 3, 0x10000, 0, 0},
      {"LLC-stores", 3, 0x102, 0, 0},
      {"node-prefetch-misses", 3, 0x10206, 0, 0},
      {"type-3/config=0x7/", 3, 7, 0, 0},
      {"r1a8:u", 4, 0x1a8, kExcludeKernel | kExcludeHv, 0},
      {"breakpoint", 5, 0, 0, 0},
      {"pmu-13/config=0x3c/", 13, 0x3c, 0, 0},
  };
  for (const Case& c : cases) {
    perf::Attr attr;
    attr.type = c.type;
    attr.config = c.config;
    attr.flags = c.flags;
    attr.precise_ip = c.precise;
    CHECK(perf::derive_event_name(attr) == c.name);
  }
}
