// Branch stacks of samples: their flags in either byte order, and which of them are history.
#include "formats/perf/branch_stacks.h"

#include <vector>

#include <doctest/doctest.h>

#include "perf_outcome.h"
#include "support/perf_writer.h"

using namespace stackpack;
using test::PerfWriter;
using test::TestAttr;
using test::TestBytes;

namespace {

struct Flags {
  std::uint64_t mispredicted = 0;
  std::uint64_t predicted = 0;
  std::uint64_t cycles = 0;
  std::uint64_t type = 0;
  std::uint64_t speculation = 0;
  std::uint64_t new_type = 0;
};

// As C compilers lay out struct perf_branch_entry: from the lowest bit on, or from the highest.
std::uint64_t flags_of(const Flags& flags, bytes::ByteOrder order) {
  struct Field {
    std::uint64_t value;
    unsigned bits;
  };
  const Field fields[] = {{flags.mispredicted, 1},
                          {flags.predicted, 1},
                          {0, 1},
                          {0, 1},
                          {flags.cycles, 16},
                          {flags.type, 4},
                          {flags.speculation, 2},
                          {flags.new_type, 4},
                          {5, 3}};
  std::uint64_t word = 0;
  unsigned at = 0;
  for (const Field& field : fields) {
    word |= field.value << (order == bytes::ByteOrder::kLittle ? at : 64 - at - field.bits);
    at += field.bits;
  }
  return word;
}

struct Sums {
  std::vector<BranchEdge> edges;
  std::vector<BranchRange> ranges;
};

Sums sums_of(const test::PerfOutcome& outcome) {
  Sums sums;
  REQUIRE(outcome.status);
  REQUIRE(outcome.sink->branch_recorder.finish(
      outcome.sink->system_facts.finish(), outcome.sink->counters,
      [&](const BranchEdge& row) {
        sums.edges.push_back(row);
        return Status{};
      },
      [&](const BranchRange& row) {
        sums.ranges.push_back(row);
        return Status{};
      }));
  return sums;
}

TestAttr branch_attr(std::uint64_t branch_type) {
  TestAttr attr;
  attr.sample_type = perf::sample_bit::kIp | perf::sample_bit::kTid | perf::sample_bit::kTime |
                     perf::sample_bit::kBranchStack;
  attr.branch_sample_type = branch_type;
  attr.flags = 0;
  return attr;
}

TestBytes mapping(const PerfWriter& w, std::uint32_t pid, std::uint64_t base,
                  std::string_view path) {
  TestBytes payload = w.bytes();
  payload.u32(pid).u32(pid).u64(base).u64(0x1000).u64(0x200).text(path).zeros(8 - path.size() % 8);
  return w.record(perf::RecordType::kMmap, 2, payload);
}

}  // namespace

capture::BranchEntry entry_of(std::uint64_t flags, bytes::ByteOrder order) {
  return capture::branch_entry({0, 0, perf::little_endian_flags(flags, order)});
}

TEST_SUITE("perf branch stacks") {
  TEST_CASE("flags of a branch, in either byte order") {
    for (const auto order : {bytes::ByteOrder::kLittle, bytes::ByteOrder::kBig}) {
      const capture::BranchEntry one = entry_of(
          flags_of({.mispredicted = 1, .cycles = 0xabcd, .type = 6, .speculation = 1}, order),
          order);
      CHECK(one.mispredicted);
      CHECK(one.cycles == 0xabcd);
      CHECK(one.type == BranchType::kReturn);
      CHECK(one.wrong_path);
      const capture::BranchEntry other = entry_of(
          flags_of({.predicted = 1, .type = 15, .speculation = 2, .new_type = 3}, order), order);
      CHECK_FALSE(other.mispredicted);
      CHECK(other.cycles == 0);
      CHECK(static_cast<unsigned>(other.type) == 15 + 16 * 3);
      CHECK_FALSE(other.wrong_path);
    }
  }

  TEST_CASE("branches of samples become edges and ranges of the mapped image") {
    for (const auto order : {bytes::ByteOrder::kLittle, bytes::ByteOrder::kBig}) {
      const PerfWriter w(order);
      const std::uint64_t hit = flags_of({.predicted = 1, .cycles = 7, .type = 1}, order);
      const std::uint64_t miss = flags_of({.mispredicted = 1, .type = 1}, order);
      TestBytes payload = w.bytes();
      payload.u64(0x5000).u32(7).u32(7).u64(100).u64(3);
      payload.u64(0x5020).u64(0x5004).u64(hit).u64(0x5020).u64(0x5004).u64(miss);
      payload.u64(0x9000).u64(0x5010).u64(hit);
      const TestBytes sample = w.record(perf::RecordType::kSample, 2, payload);
      const Sums sums = sums_of(
          test::read_perf(w.file({branch_attr(0)}, {mapping(w, 7, 0x5000, "/a"), sample, sample})));
      REQUIRE(sums.edges.size() == 2);
      CHECK(sums.edges[0].from_image == kNoImage);
      CHECK(sums.edges[0].from == 0x9000);
      CHECK(sums.edges[0].to == 0x210);
      CHECK(sums.edges[1].from == 0x220);
      CHECK(sums.edges[1].to == 0x204);
      CHECK(sums.edges[1].count == 4);
      CHECK(sums.edges[1].mispredicted == 2);
      CHECK(sums.edges[1].cycles == 14);
      CHECK(sums.edges[1].head_duplicates == 2);
      REQUIRE(sums.ranges.size() == 2);
      CHECK(sums.ranges[0].begin == 0x204);
      CHECK(sums.ranges[0].end == 0x220);
      CHECK(sums.ranges[0].head_duplicates == 2);
      CHECK(sums.ranges[1].begin == 0x210);
      CHECK(sums.ranges[1].count == 2);
    }
  }

  TEST_CASE("whole stacks are kept when the sink keeps them, with flags in one order") {
    for (const auto order : {bytes::ByteOrder::kLittle, bytes::ByteOrder::kBig}) {
      const Flags first{.mispredicted = 1, .cycles = 0xabcd, .type = 6, .speculation = 1};
      const Flags second{.predicted = 1, .type = 15, .speculation = 2, .new_type = 3};
      const PerfWriter w(order);
      TestBytes payload = w.bytes();
      payload.u64(0x5000).u32(7).u32(7).u64(100).u64(2);
      payload.u64(0x5020).u64(0x5004).u64(flags_of(first, order));
      payload.u64(0x9000).u64(0x5010).u64(flags_of(second, order));
      const TestBytes sample = w.record(perf::RecordType::kSample, 2, payload);
      const auto file = w.file({branch_attr(0)}, {sample, sample});
      test::PerfOutcome outcome;
      outcome.sink->keeps_fields = true;
      outcome.sink->keeps_stacks_of_branches = true;
      perf::Input input;
      input.main = io::source_of_memory(file);
      REQUIRE(perf::read_capture(input, *outcome.sink, {}));
      REQUIRE(outcome.sink->branch_stacks.size() == 2);
      const std::vector<StackedBranch> wanted{
          {0x5020, 0x5004, flags_of(first, bytes::ByteOrder::kLittle)},
          {0x9000, 0x5010, flags_of(second, bytes::ByteOrder::kLittle)}};
      CHECK(outcome.sink->branch_stacks[0] == wanted);
      CHECK(outcome.sink->branch_stacks[1] == wanted);
      CHECK(outcome.sink->field_recorder.empty() == false);
      CHECK(test::read_perf(file).sink->branch_stacks.empty());
    }
  }

  TEST_CASE("open calls are no history") {
    const PerfWriter w;
    TestBytes payload;
    payload.u64(0x5000).u32(7).u32(7).u64(100).u64(1).u64(0x5020).u64(0x5004).u64(2);
    const TestBytes sample = w.record(perf::RecordType::kSample, 2, payload);
    const auto outcome =
        test::read_perf(w.file({branch_attr(perf::branch_bit::kCallStack)}, {sample}));
    CHECK(outcome.count("sample_fields_not_kept.branch_stack") == 1);
    CHECK(sums_of(outcome).edges.empty());
  }

  TEST_CASE("a mapping that replaces another begins anew") {
    const PerfWriter w;
    TestBytes payload;
    payload.u64(0x5000).u32(7).u32(7).u64(0).u64(1).u64(0x5020).u64(0x5004).u64(2);
    const TestBytes sample = w.record(perf::RecordType::kSample, 2, payload);
    TestAttr attr = branch_attr(0);
    attr.flags = perf::attr_flag::kSampleIdAll;
    const auto at = [&](std::uint64_t time_ns, std::string_view path) {
      TestBytes map;
      map.u32(7).u32(7).u64(0x5000).u64(0x1000).u64(0).text(path).zeros(8 - path.size() % 8);
      map.u32(7).u32(7).u64(time_ns);
      return w.record(perf::RecordType::kMmap, 2, map);
    };
    const auto sampled = [&](std::uint64_t time_ns) {
      TestBytes fields;
      fields.u64(0x5000).u32(7).u32(7).u64(time_ns).u64(1).u64(0x5020).u64(0x5004).u64(2);
      return w.record(perf::RecordType::kSample, 2, fields);
    };
    const Sums sums = sums_of(test::read_perf(
        w.file({attr}, {at(10, "/a"), sampled(15), at(20, "/b"), sampled(25), sampled(26)})));
    REQUIRE(sums.edges.size() == 2);
    CHECK(sums.edges[0].count == 1);
    CHECK(sums.edges[1].count == 2);
  }
}
