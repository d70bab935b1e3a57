// Long dumps, of which only what is looked at is read: samples come out as if all of it were.
#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "formats/perf/perf_losses.h"
#include "formats/perf/perf_source.h"
#include "support/collecting_sink.h"
#include "support/failing_source.h"
#include "support/perf_writer.h"

using namespace stackpack;

namespace {

constexpr std::uint64_t kPartialMask = 0xFF0FFF;
constexpr std::size_t kLongDump = 40'000;

std::byte dump_byte(std::size_t i) {
  return static_cast<std::byte>(i * 7 + i / 251);
}

// Looks at the first `wanted` bytes of each dump; its frames are a sum of them.
class LookingUnwinder final : public capture::DumpUnwinder {
 public:
  explicit LookingUnwinder(std::size_t wanted) : wanted_(wanted) {}

  void begin(capture::SystemTables /*tables*/) override {}
  capture::UnwoundStack unwind(const capture::ThreadDump& dump) override {
    const std::size_t wanted = std::min(wanted_, dump.stack.size());
    std::size_t there = dump.loaded;
    least_loaded = std::min(least_loaded, there);
    if (there < wanted) {
      REQUIRE(static_cast<bool>(dump.load));
      there = dump.load(wanted);
    }
    ++dumps;
    good += there >= wanted ? 1U : 0U;
    frames_ = {0x1000 + dump.stack.size()};
    for (std::size_t i = 0; i < std::min(there, wanted); ++i) {
      frames_[0] = frames_[0] * 31 + std::to_integer<std::uint64_t>(dump.stack[i]);
    }
    return {frames_, true};
  }
  void pass_over(std::string_view /*loss*/, std::uint64_t /*offset*/) override {}
  void finish(capture::CallstackSink& /*sink*/) override {}

  std::size_t least_loaded = ~std::size_t{0};
  std::size_t dumps = 0;
  std::size_t good = 0;

 private:
  std::size_t wanted_;
  std::vector<std::uint64_t> frames_;
};

struct LongSample {
  std::size_t stack_bytes = kLongDump;
  std::size_t copied = kLongDump;
  std::size_t chain = 0;
  std::size_t slack = 0;
  std::uint64_t extra_fields = 0;  // words after the dump
  std::uint64_t seed = 0;          // of the addresses of the chain
};

test::TestBytes long_sample(const test::PerfWriter& writer, const LongSample& shape) {
  test::TestBytes payload = writer.bytes();
  payload.u64(0x401000).u32(7).u32(8).u64(5000).u64(shape.chain);
  for (std::size_t i = 0; i < shape.chain; ++i) {
    payload.u64(i == 0 ? test::kContextKernel : 0xFFFFFFFF81000000 + shape.seed + i);
  }
  payload.u64(2);
  for (unsigned i = 0; i < 20; ++i) {
    payload.u64(100 + i);
  }
  payload.u64(shape.stack_bytes);
  for (std::size_t i = 0; i < shape.stack_bytes; ++i) {
    payload.u8(std::to_integer<std::uint8_t>(dump_byte(i)));
  }
  payload.u64(shape.copied);
  for (std::size_t i = 0; i < shape.extra_fields + shape.slack; ++i) {
    payload.u64(i + 1);
  }
  return writer.record(perf::RecordType::kSample, 2, payload);
}

test::TestAttr attr_of_dumps(std::uint64_t more) {
  test::TestAttr attr;
  attr.sample_type |= perf::sample_bit::kRegsUser | perf::sample_bit::kStackUser | more;
  attr.sample_regs_user = kPartialMask;
  return attr;
}

struct PartOutcome {
  std::vector<std::string> rows;
  std::map<std::string, std::uint64_t> losses;
  std::size_t good = 0;
  std::size_t dumps = 0;
  std::size_t least_loaded = 0;
};

PartOutcome read_looking(std::span<const std::byte> bytes, std::size_t wanted) {
  LookingUnwinder unwinder(wanted);
  test::CollectingSink sink;
  perf::Input input;
  input.main = io::source_of_memory(bytes);
  const auto account = perf::read_capture(input, sink, {{}, &unwinder});
  REQUIRE(account.has_value());
  PartOutcome outcome{{}, {}, unwinder.good, unwinder.dumps, unwinder.least_loaded};
  for (const auto& row : sink.rows) {
    outcome.rows.push_back(row.stack);
  }
  for (const LossCounter& counter : sink.counters.sorted()) {
    outcome.losses[counter.name] = counter.count;
  }
  return outcome;
}

// The same records in a file, of whose long samples parts are read, and in a stream, which is read
// as a whole.
void check_same_as_whole(const test::TestAttr& attr, const std::vector<test::TestBytes>& records) {
  const test::PerfWriter writer;
  const auto file = writer.file({attr}, records);
  const auto pipe = writer.pipe({attr}, records);
  for (const std::size_t wanted :
       {std::size_t{0}, std::size_t{3000}, std::size_t{9000}, kLongDump}) {
    CAPTURE(wanted);
    const PartOutcome in_part = read_looking(file, wanted);
    const PartOutcome as_a_whole = read_looking(pipe, wanted);
    CHECK(in_part.rows == as_a_whole.rows);
    CHECK(in_part.losses == as_a_whole.losses);
    CHECK(in_part.dumps == as_a_whole.dumps);
    CHECK(in_part.good == in_part.dumps);
  }
}

}  // namespace

TEST_SUITE("perf partial records") {
  TEST_CASE("partial records: a long dump is read as far as it is looked at") {
    const test::PerfWriter writer;
    const auto bytes =
        writer.file({attr_of_dumps(0)}, std::vector<test::TestBytes>(5, long_sample(writer, {})));
    const PartOutcome little = read_looking(bytes, 1000);
    CHECK(little.dumps == 5);
    CHECK(little.good == 5);
    CHECK(little.least_loaded < 5000);
    const PartOutcome all = read_looking(bytes, kLongDump);
    CHECK(all.good == 5);
    REQUIRE(all.rows.size() == 5);
    CHECK(all.rows[0] == all.rows[4]);
    CHECK(all.rows[0] != little.rows[0]);
  }

  TEST_CASE("partial records: the same as when all is read") {
    const test::PerfWriter writer;
    test::TestBytes comm = writer.bytes();
    comm.u32(7).u32(8).text("name").pad_to(8);
    comm.u32(7).u32(8).u64(4000);
    const auto name = writer.record(perf::RecordType::kComm, 0, comm);
    const LongSample cut{kLongDump, 2000};
    const LongSample small{64, 64};
    const LongSample middle{8192, 8000};
    const LongSample deep{30'000, 29'000, 3000};  // its registers are not in the part that is read
    check_same_as_whole(
        attr_of_dumps(0),
        {long_sample(writer, {}), name, long_sample(writer, cut), long_sample(writer, small),
         long_sample(writer, middle), name, name, long_sample(writer, deep),
         long_sample(writer, {60'000, 60'000}), long_sample(writer, {})});
  }

  TEST_CASE("partial records: fields after the dump") {
    const test::PerfWriter writer;
    LongSample weighed;
    weighed.extra_fields = 3;
    check_same_as_whole(attr_of_dumps(perf::sample_bit::kWeight | perf::sample_bit::kDataSrc |
                                      perf::sample_bit::kTransaction),
                        {long_sample(writer, weighed), long_sample(writer, weighed)});
    // More of them than are read with the end of the record.
    test::TestAttr interrupted = attr_of_dumps(std::uint64_t{1} << 18);
    interrupted.sample_regs_intr = 0xFFFFF;
    LongSample registers;
    registers.extra_fields = 21;
    const PartOutcome outcome =
        read_looking(writer.file({interrupted}, {long_sample(writer, registers)}), kLongDump);
    CHECK(outcome.rows.size() == 1);
    check_same_as_whole(interrupted, {long_sample(writer, registers), long_sample(writer, {})});
  }

  TEST_CASE("partial records: what an earlier one left in its place is not taken for a later one") {
    const test::PerfWriter writer;
    test::TestAttr interrupted = attr_of_dumps(std::uint64_t{1} << 18);
    interrupted.sample_regs_intr = 0xFFFFF;
    std::vector<test::TestBytes> deep;
    std::vector<test::TestBytes> cut;
    for (std::size_t i = 0; i < 20; ++i) {
      LongSample shape{20'000, 20'000, 3000};
      shape.seed = i << 16;
      deep.push_back(long_sample(writer, shape));
      shape = {kLongDump, 5000 + 500 * i};
      shape.extra_fields = 21;
      cut.push_back(long_sample(writer, shape));
    }
    check_same_as_whole(attr_of_dumps(0), deep);
    check_same_as_whole(interrupted, cut);
  }

  TEST_CASE("partial records: damaged ones are counted as ever") {
    const test::PerfWriter writer;
    LongSample slack;
    slack.slack = 5;
    test::TestBytes wrong_size = long_sample(writer, {});
    wrong_size.bytes[8 + 24 + 8 + 8 + 160] = std::byte{0xFF};  // the size of the dump
    check_same_as_whole(
        attr_of_dumps(0),
        {long_sample(writer, {}), long_sample(writer, slack), wrong_size,
         long_sample(writer, {kLongDump, ~std::size_t{0}}), long_sample(writer, {})});
  }

  TEST_CASE("partial records: a file that ends within one, or cannot be read") {
    const test::PerfWriter writer;
    const auto bytes =
        writer.file({attr_of_dumps(0)}, {long_sample(writer, {}), long_sample(writer, {})});
    for (const std::size_t less : {std::size_t{1}, std::size_t{100}, std::size_t{39'000}}) {
      const PartOutcome outcome =
          read_looking(std::span(bytes).first(bytes.size() - less), kLongDump);
      CHECK(outcome.rows.size() == 1);
      CHECK(outcome.losses.at(std::string(perf::loss::kDataSectionCut)) == 1);
    }
    std::uint64_t reads = 0;
    {
      test::CollectingSink sink;
      LookingUnwinder unwinder(kLongDump);
      perf::Input input;
      auto source = std::make_unique<test::FailingSource>(bytes, test::FailingSource::kNever);
      const test::FailingSource* const counted = source.get();
      input.main = std::move(source);
      REQUIRE(perf::read_capture(input, sink, {{}, &unwinder}).has_value());
      reads = counted->reads();
    }
    for (std::uint64_t i = 0; i < reads; ++i) {
      CAPTURE(i);
      test::CollectingSink sink;
      LookingUnwinder unwinder(kLongDump);
      perf::Input input;
      input.main = std::make_unique<test::FailingSource>(bytes, i);
      const auto account = perf::read_capture(input, sink, {{}, &unwinder});
      REQUIRE_FALSE(account.has_value());
      CHECK(account.error().code == ErrorCode::kIo);
    }
  }
}
