// Dumps on their way to an unwinder: what it is given, and what its frames become.
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "formats/perf/perf_losses.h"
#include "formats/perf/perf_source.h"
#include "support/collecting_sink.h"
#include "support/perf_writer.h"

using namespace stackpack;

namespace {

constexpr std::uint64_t kX86Registers = 0xFF0FFF;
constexpr std::uint64_t kArmRegisters = (std::uint64_t{1} << 33) - 1;

// Answers with frames that are told to it, and keeps the dumps.
class FakeUnwinder final : public capture::DumpUnwinder {
 public:
  void begin(capture::SystemTables tables) override { modules = std::move(tables.modules); }
  capture::UnwoundStack unwind(const capture::ThreadDump& dump) override {
    dumps.push_back(dump);
    stacks.emplace_back(dump.stack.begin(), dump.stack.end());
    return {frames, complete};
  }
  void pass_over(std::string_view loss, std::uint64_t /*offset*/) override {
    passed_over.emplace_back(loss);
  }
  void finish(capture::CallstackSink& sink) override {
    sink.losses().add("finished", LossKind::kNotice, 1);
  }

  std::vector<std::uint64_t> frames{0x401000, 0x402000};
  bool complete = true;
  std::vector<Module> modules;
  std::vector<capture::ThreadDump> dumps;
  std::vector<std::vector<std::byte>> stacks;
  std::vector<std::string> passed_over;
};

test::TestAttr dump_attr(std::uint64_t registers) {
  test::TestAttr attr;
  attr.sample_type |= perf::sample_bit::kRegsUser | perf::sample_bit::kStackUser;
  attr.sample_regs_user = registers;
  return attr;
}

struct DumpShape {
  std::vector<std::uint64_t> chain;
  std::uint64_t abi = 2;
  unsigned registers = 20;
  std::uint64_t stack_bytes = 16;
  std::uint64_t copied = 16;
  std::uint16_t misc = 2;  // user mode
};

test::TestBytes dump_sample(const test::PerfWriter& writer, const DumpShape& shape) {
  test::TestBytes payload = writer.bytes();
  constexpr std::uint16_t kInKernel = 1;
  payload.u64(shape.misc == kInKernel ? 0xFFFFFFFF81000010 : 0x401000)
      .u32(7)
      .u32(8)
      .u64(5000)
      .u64(shape.chain.size());
  for (const std::uint64_t entry : shape.chain) {
    payload.u64(entry);
  }
  payload.u64(shape.abi);
  for (unsigned i = 0; shape.abi != 0 && i < shape.registers; ++i) {
    payload.u64(100 + i);
  }
  payload.u64(shape.stack_bytes);
  if (shape.stack_bytes != 0) {
    for (std::uint64_t i = 0; i < shape.stack_bytes; ++i) {
      payload.u8(static_cast<std::uint8_t>(i));
    }
    payload.u64(shape.copied);
  }
  return writer.record(perf::RecordType::kSample, shape.misc, payload);
}

// Reads a capture of these records with the unwinder, or without any when it is null.
std::unique_ptr<test::CollectingSink> read(const std::vector<std::byte>& bytes,
                                           capture::DumpUnwinder* unwinder) {
  auto sink = std::make_unique<test::CollectingSink>();
  perf::Input input;
  input.main = io::source_of_memory(bytes);
  const auto account = perf::read_capture(input, *sink, {{}, unwinder});
  CHECK(account.has_value());
  return sink;
}

}  // namespace

TEST_SUITE("perf unwind") {
  TEST_CASE("perf dumps: registers get their DWARF numbers") {
    const test::PerfWriter writer;
    FakeUnwinder unwinder;
    const auto bytes = writer.file({dump_attr(kX86Registers)}, {dump_sample(writer, {})});
    const auto sink = read(bytes, &unwinder);
    REQUIRE(unwinder.dumps.size() == 1);
    const capture::ThreadDump& dump = unwinder.dumps.front();
    CHECK(dump.machine == capture::DumpMachine::kX64);
    CHECK(dump.pid == 7);
    CHECK(dump.time_ns == 5000);
    CHECK(dump.known_registers == 0x1FFFF);
    const std::vector<std::pair<unsigned, std::uint64_t>> places{
        {0, 100}, {3, 101}, {2, 102},  {1, 103}, {4, 104}, {5, 105},
        {6, 106}, {7, 107}, {16, 108}, {8, 112}, {15, 119}};
    for (const auto& [number, value] : places) {
      CAPTURE(number);
      CHECK(dump.registers[number] == value);
    }
    CHECK(unwinder.stacks.front().size() == 16);
    CHECK(dump.filled);
    CHECK_FALSE(dump.in_kernel);
    REQUIRE(sink->rows.size() == 1);
    CHECK(sink->rows[0].stack == "u401000 u402000");
    CHECK(sink->rows[0].sample.origin == StackOrigin::kUnwound);
    CHECK((sink->rows[0].sample.flags & (kSampleIncomplete | kSampleStackDump)) == 0);
    CHECK(sink->counters.count("finished") == 1);
    CHECK(sink->counters.count(perf::loss::kDumpWithoutChain) == 0);
  }

  TEST_CASE("perf dumps: AArch64 is known by its registers") {
    const test::PerfWriter writer;
    FakeUnwinder unwinder;
    DumpShape shape;
    shape.registers = 33;
    read(writer.file({dump_attr(kArmRegisters)}, {dump_sample(writer, shape)}), &unwinder);
    REQUIRE(unwinder.dumps.size() == 1);
    CHECK(unwinder.dumps[0].machine == capture::DumpMachine::kAarch64);
    CHECK(unwinder.dumps[0].registers[30] == 130);
    CHECK(unwinder.dumps[0].registers[32] == 132);
  }

  TEST_CASE("perf dumps: kernel frames stay before, recorded user frames stay alone") {
    const test::PerfWriter writer;
    FakeUnwinder unwinder;
    unwinder.complete = false;
    DumpShape kernel;
    kernel.chain = {test::kContextKernel, 0xFFFFFFFF81000010};
    kernel.misc = 1;
    kernel.copied = 8;
    DumpShape recorded;
    recorded.chain = {test::kContextUser, 0x401000, 0x409000};
    const auto bytes = writer.file(
        {dump_attr(kX86Registers)},
        {dump_sample(writer, kernel), dump_sample(writer, recorded), dump_sample(writer, kernel)});
    const auto sink = read(bytes, &unwinder);
    REQUIRE(sink->rows.size() == 3);
    CHECK(sink->rows[0].stack == "kffffffff81000010 u401000 u402000");
    CHECK((sink->rows[0].sample.flags & kSampleIncomplete) != 0);
    CHECK(sink->rows[1].stack == "u401000 u409000");
    CHECK(sink->rows[1].sample.origin == StackOrigin::kRecorded);
    // The chain is known by now, the dump is another.
    CHECK(sink->rows[2].stack == sink->rows[0].stack);
    REQUIRE(unwinder.dumps.size() == 2);
    CHECK(unwinder.dumps[0].in_kernel);
    CHECK_FALSE(unwinder.dumps[0].filled);
    CHECK(unwinder.stacks[0].size() == 8);
  }

  TEST_CASE("perf dumps: what cannot be unwound is counted, and is what it was without") {
    const test::PerfWriter writer;
    FakeUnwinder unwinder;
    DumpShape narrow;
    narrow.abi = 1;
    DumpShape none;
    none.abi = 0;
    DumpShape kernel_thread;
    kernel_thread.stack_bytes = 0;
    DumpShape good;
    const std::vector<test::TestBytes> records{
        dump_sample(writer, narrow), dump_sample(writer, none), dump_sample(writer, kernel_thread)};
    const auto bytes = writer.file({dump_attr(kX86Registers)}, records);
    const auto with = read(bytes, &unwinder);
    const auto without = read(bytes, nullptr);
    CHECK(unwinder.dumps.empty());
    CHECK(unwinder.passed_over ==
          std::vector<std::string>{std::string(capture::unwind_loss::kNarrow)});
    REQUIRE(with->rows.size() == without->rows.size());
    for (std::size_t i = 0; i < with->rows.size(); ++i) {
      CHECK(with->rows[i].sample == without->rows[i].sample);
      CHECK(with->rows[i].stack == without->rows[i].stack);
    }
    // Registers of no machine that is known: some bits of the mask.
    good.registers = 3;
    read(writer.file({dump_attr(0x7)}, {dump_sample(writer, good)}), &unwinder);
    CHECK(unwinder.passed_over.back() == capture::unwind_loss::kOtherMachine);
  }

  TEST_CASE("perf dumps: mappings that come late are known before the first dump") {
    const test::PerfWriter writer;
    test::TestBytes mapping = writer.bytes();
    mapping.u32(7).u32(7).u64(0x400000).u64(0x1000).u64(0).text("/bin/late").pad_to(8);
    mapping.u32(7).u32(7).u64(4000);  // the trailer: pid, tid, time
    const std::vector<test::TestBytes> records{dump_sample(writer, {}),
                                               writer.record(perf::RecordType::kMmap, 2, mapping),
                                               dump_sample(writer, {})};
    for (const bool pipe : {false, true}) {
      CAPTURE(pipe);
      FakeUnwinder unwinder;
      const std::vector<test::TestAttr> attrs{dump_attr(kX86Registers)};
      const auto sink =
          read(pipe ? writer.pipe(attrs, records) : writer.file(attrs, records), &unwinder);
      REQUIRE(unwinder.modules.size() == 1);
      CHECK(unwinder.modules[0].path == "/bin/late");
      CHECK(unwinder.modules[0].start_ns == 4000);
      CHECK(sink->rows.size() == 2);
      CHECK(unwinder.dumps.size() == 2);
    }
  }
}
