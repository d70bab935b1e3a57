#include "formats/perf/sample.h"

#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "all_sample_fields.h"
#include "support/perf_writer.h"
#include "support/test_bytes.h"

using namespace stackpack;
using namespace stackpack::perf;
using test::all_fields;
using test::FieldCase;
using test::sample_of;
using test::TestBytes;

namespace {

Attr sample_attr(std::uint64_t sample_type) {
  Attr attr;
  attr.sample_type = sample_type;
  attr.sample_regs_user = 0b10101;
  attr.sample_regs_intr = 0b1;
  return attr;
}

void check_fields(const SampleFields& fields, std::uint64_t sample_type) {
  CHECK(fields.ip == ((sample_type & sample_bit::kIp) != 0 ? test::kSampleIp : 0));
  CHECK(fields.pid == ((sample_type & sample_bit::kTid) != 0 ? 11 : kUnknownId));
  CHECK(fields.tid == ((sample_type & sample_bit::kTid) != 0 ? 12 : kUnknownId));
  CHECK(fields.time == ((sample_type & sample_bit::kTime) != 0 ? 13 : 0));
  CHECK(fields.cpu == ((sample_type & sample_bit::kCpu) != 0 ? 16 : kUnknownId));
  CHECK(fields.period == ((sample_type & sample_bit::kPeriod) != 0 ? 17 : 1));
  CHECK(fields.chain_entries == ((sample_type & sample_bit::kCallchain) != 0 ? 3 : 0));
  CHECK(fields.branch_count == ((sample_type & sample_bit::kBranchStack) != 0 ? 2 : 0));
  CHECK(fields.dump.abi == ((sample_type & sample_bit::kRegsUser) != 0 ? 2 : 0));
  CHECK(fields.dump.stack.size() == ((sample_type & sample_bit::kStackUser) != 0 ? 8 : 0));
}

}  // namespace

TEST_CASE("perf sample: each field alone, and all but it, in both byte orders") {
  std::uint64_t all = 0;
  for (const FieldCase& field : all_fields()) {
    all |= field.bit != sample_bit::kWeightStruct ? field.bit : 0;
  }
  for (const FieldCase& field : all_fields()) {
    if (field.bit == sample_bit::kWeightStruct) {
      continue;
    }
    CAPTURE(field.name);
    for (const std::uint64_t type : {field.bit, all, all & ~field.bit}) {
      for (const bytes::ByteOrder order : {bytes::ByteOrder::kLittle, bytes::ByteOrder::kBig}) {
        const TestBytes bytes = sample_of(type, order);
        SampleFields fields;
        const auto layout = layout_of(sample_attr(type));
        const auto fit = read_sample(bytes::ByteCursor(bytes.bytes, 0, order), layout, fields);
        CHECK(fit == SampleFit::kExact);
        check_fields(fields, type);
        // One byte less never fits, and one more is noticed.
        const auto shorter = std::span(bytes.bytes).first(bytes.bytes.size() - 1);
        CHECK(read_sample(bytes::ByteCursor(shorter, 0, order), layout, fields) ==
              SampleFit::kOverrun);
        TestBytes longer = bytes;
        longer.zeros(8);
        CHECK(read_sample(bytes::ByteCursor(longer.bytes, 0, order), layout, fields) ==
              SampleFit::kSlack);
      }
    }
  }
}

TEST_CASE("perf sample: WEIGHT_STRUCT takes the place of WEIGHT") {
  TestBytes bytes;
  bytes.u64(test::kSampleIp).u64(24);
  SampleFields fields;
  const Attr attr = sample_attr(sample_bit::kIp | sample_bit::kWeightStruct);
  CHECK(read_sample(bytes::ByteCursor(bytes.bytes, 0), layout_of(attr), fields) ==
        SampleFit::kExact);
}

TEST_CASE("perf sample: READ of every form stands before the chain") {
  struct Case {
    std::string name;
    std::uint64_t format;
    std::uint64_t members;
    std::size_t words;
  };
  using namespace read_bit;
  const Case cases[] = {
      {"value", 0, 1, 1},
      {"times", kTimeEnabled | kTimeRunning, 1, 3},
      {"all of a single counter", kTimeEnabled | kTimeRunning | read_bit::kId | kLost, 1, 5},
      {"group", kGroup, 3, 4},
      {"group with ids", kGroup | read_bit::kId, 3, 7},
      {"group with all", kGroup | read_bit::kId | kLost | kTimeEnabled | kTimeRunning, 3, 12},
      {"empty group", kGroup | kTimeEnabled, 0, 2},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Attr attr = sample_attr(sample_bit::kIp | sample_bit::kRead | sample_bit::kCallchain);
    attr.read_format = c.format;
    TestBytes bytes;
    bytes.u64(test::kSampleIp).u64(c.members).zeros(8 * (c.words - 1)).u64(1).u64(test::kSampleIp);
    SampleFields fields;
    CHECK(read_sample(bytes::ByteCursor(bytes.bytes, 0), layout_of(attr), fields) ==
          SampleFit::kExact);
    CHECK(fields.chain_entries == 1);
  }
}

TEST_CASE("perf sample: branch stacks with hardware index and counters, and empty ones without") {
  struct Case {
    std::string name;
    std::uint64_t branch_type;
    std::uint64_t count;
    std::size_t words;  // after the count
  };
  using namespace branch_bit;
  const Case cases[] = {
      {"plain", 0, 2, 6},
      {"index", kHwIndex, 2, 7},
      {"counters", kCounters, 2, 8},
      {"both", kHwIndex | kCounters, 3, 13},
      {"empty", 0, 0, 0},
      {"empty as the kernel writes it", kHwIndex, 0, 0},
      {"empty as the perf tool writes it", kHwIndex, 0, 1},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Attr attr =
        sample_attr(sample_bit::kBranchStack | sample_bit::kStackUser | sample_bit::kWeight);
    attr.branch_sample_type = c.branch_type;
    TestBytes bytes;
    bytes.u64(c.count).zeros(8 * c.words).u64(8).u64(0xabcd).u64(8).u64(5);
    SampleFields fields;
    CHECK(read_sample(bytes::ByteCursor(bytes.bytes, 0), layout_of(attr), fields) ==
          SampleFit::kExact);
    CHECK(fields.branch_count == c.count);
    CHECK(fields.dump.stack.size() == 8);
  }
}

TEST_CASE("perf sample: a dump is usable with registers and memory only") {
  struct Case {
    std::string name;
    std::uint64_t abi;
    std::uint64_t size;
    std::uint64_t used;
    bool usable;
  };
  const Case cases[] = {{"kernel thread", 0, 0, 0, false}, {"registers only", 2, 0, 0, false},
                        {"both", 2, 16, 16, true},         {"nothing used", 2, 16, 0, false},
                        {"lying length", 2, 16, 99, true}, {"no registers", 0, 16, 16, false}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    TestBytes bytes;
    bytes.u64(c.abi).zeros(c.abi != 0 ? 24 : 0).u64(c.size);
    if (c.size != 0) {
      bytes.zeros(c.size).u64(c.used);
    }
    SampleFields fields;
    const Attr attr = sample_attr(sample_bit::kRegsUser | sample_bit::kStackUser);
    CHECK(read_sample(bytes::ByteCursor(bytes.bytes, 0), layout_of(attr), fields) ==
          SampleFit::kExact);
    CHECK(fields.dump.usable() == c.usable);
    CHECK(fields.dump.stack.size() <= c.size);
  }
}

TEST_CASE("perf sample: counts and sizes that lie are overruns, not reads") {
  struct Case {
    std::string name;
    std::uint64_t bit;
    std::uint64_t read_format;
  };
  const Case cases[] = {{"chain", sample_bit::kCallchain, 0},
                        {"group", sample_bit::kRead, read_bit::kGroup | read_bit::kId},
                        {"raw", sample_bit::kRaw, 0},
                        {"branches", sample_bit::kBranchStack, 0},
                        {"stack", sample_bit::kStackUser, 0},
                        {"aux", sample_bit::kAux, 0}};
  const std::uint64_t lies[] = {~std::uint64_t{0},
                                std::uint64_t{1} << 63,
                                std::uint64_t{1} << 61,
                                (std::uint64_t{1} << 60) + 1,
                                0xffffffff,
                                1000};
  for (const Case& c : cases) {
    for (const std::uint64_t lie : lies) {
      CAPTURE(c.name);
      CAPTURE(lie);
      Attr attr = sample_attr(c.bit);
      attr.read_format = c.read_format;
      TestBytes bytes;
      bytes.u64(c.bit == sample_bit::kRaw ? lie | 0x10000 : lie).zeros(64);  // RAW has a u32
      SampleFields fields;
      CHECK(read_sample(bytes::ByteCursor(bytes.bytes, 0), layout_of(attr), fields) ==
            SampleFit::kOverrun);
    }
  }
}
