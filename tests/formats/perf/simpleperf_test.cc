// Captures of Android's simpleperf, written after the description of its format.
#include "formats/perf/simpleperf.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "bytes/byte_text.h"
#include "formats/perf/perf_losses.h"
#include "perf_outcome.h"
#include "support/perf_writer.h"
#include <protozero/pbf_writer.hpp>

using namespace stackpack;
using perf::RecordType;
using test::PerfWriter;
using test::TestBytes;

namespace {

constexpr std::uint32_t kKernelSymbols = 32769;
constexpr std::uint32_t kUnwindingResult = 32776;

// A record with a size of 32 bits, in two halves.
TestBytes wide_record(const PerfWriter& w, std::uint32_t type, const TestBytes& payload) {
  const auto size = static_cast<std::uint32_t>(8 + payload.bytes.size());
  TestBytes out = w.bytes();
  out.u32(type).u16(static_cast<std::uint16_t>(size >> 16)).u16(static_cast<std::uint16_t>(size));
  return out.append(payload.bytes);
}

TestBytes mapping(const PerfWriter& w, std::uint32_t pid, std::uint64_t base, std::uint64_t offset,
                  std::string_view path) {
  TestBytes payload = w.bytes();
  payload.u32(pid).u32(pid).u64(base).u64(0x10000).u64(offset).text(path).u8(0).pad_to(8);
  payload.u32(0).u32(0).u64(0);
  return w.record(RecordType::kMmap, 0, payload);
}

struct TestSymbol {
  std::uint64_t address;
  std::uint32_t length;
  std::string_view name;
};

struct TestFile {
  std::string_view path;
  std::uint32_t type;
  std::uint64_t lowest_address;
  std::vector<TestSymbol> symbols;
  std::uint64_t lowest_offset;
};

TestBytes with_size(const PerfWriter& w, const TestBytes& content) {
  TestBytes out = w.bytes();
  return out.u32(static_cast<std::uint32_t>(content.bytes.size())).append(content.bytes);
}

TestBytes file_entry(const PerfWriter& w, const TestFile& file) {
  TestBytes out = w.bytes();
  out.text(file.path).u8(0).u32(file.type).u64(file.lowest_address);
  out.u32(static_cast<std::uint32_t>(file.symbols.size()));
  for (const TestSymbol& symbol : file.symbols) {
    out.u64(symbol.address).u32(symbol.length).text(symbol.name).u8(0);
  }
  if (file.type == 3) {
    out.u32(1).u64(0x28);
  } else if (file.lowest_offset != 0) {
    out.u64(file.lowest_offset);
  }
  return with_size(w, out);
}

TestBytes file2_entry(const PerfWriter& w, const TestFile& file) {
  std::string message;
  protozero::pbf_writer out(message);
  out.add_string(1, file.path.data(), file.path.size());
  out.add_uint32(2, file.type);
  out.add_uint64(3, file.lowest_address);
  for (const TestSymbol& symbol : file.symbols) {
    std::string inner;
    protozero::pbf_writer one(inner);
    one.add_uint64(1, symbol.address);
    one.add_uint32(2, symbol.length);
    one.add_string(3, symbol.name.data(), symbol.name.size());
    out.add_message(4, inner);
  }
  if (file.type == 1 || file.type == 2) {
    std::string inner;
    protozero::pbf_writer(inner).add_uint64(1, file.lowest_offset);
    out.add_message(file.type == 2 ? 6 : 7, inner);
  }
  out.add_uint32(99, 7);  // of a later version
  TestBytes content = w.bytes();
  return with_size(w, content.text(message));
}

const std::vector<TestFile>& files() {
  static const std::vector<TestFile> kFiles = {
      {"[kernel.kallsyms]", 0, 0, {{0xffffffff81000100, 0x40, "do_work"}}, 0},
      {"/system/lib64/libc.so", 2, 0x5000, {{0x5100, 0x20, "malloc"}, {0x5200, 8, "free"}}, 0x4000},
      {"/data/base.vdex", 3, 0, {{0x300, 0x30, "com.example.run"}}, 0},
      {"/data/local/perf-10.map", 4, 0, {{0x9000, 0x10, "jitted"}}, 0},
      {"/not/mapped.so", 2, 0, {{0x10, 0x10, "unknown"}}, 0}};
  return kFiles;
}

std::vector<std::string> functions_of(const test::PerfOutcome& outcome) {
  capture::SystemRecorder& system = outcome.sink->system_facts;
  const capture::SystemTables tables = system.finish();
  std::vector<std::string> lines;
  const Status done = system.functions().finish(
      tables, [](const capture::RecordedFunction&) { return true; },
      [&](const capture::RecordedFunction& function) -> Status {
        std::string owner = "kernel";
        if (function.owner == FunctionOwner::kProcess) {
          owner = std::to_string(function.pid);
        } else if (function.owner == FunctionOwner::kImage) {
          owner = tables.modules[function.module].path;
        }
        char place[48];
        std::snprintf(place, sizeof place, " %llx+%llx ",
                      static_cast<unsigned long long>(function.start),
                      static_cast<unsigned long long>(function.size));
        CHECK(function.source == FunctionSource::kSimpleperf);
        lines.push_back(owner + place + std::string(function.name));
        return {};
      });
  CHECK(done.has_value());
  return lines;
}

std::vector<TestBytes> records(const PerfWriter& w) {
  return {mapping(w, 10, 0x700000, 0x4000, "/system/lib64/libc.so"),
          mapping(w, 10, 0x800000, 0, "/data/base.vdex"),
          wide_record(w, kKernelSymbols, w.bytes().zeros(70000)),
          w.sample(10, 11, 5, {test::kContextUser, 0x700100}),
          wide_record(w, kUnwindingResult, w.bytes().zeros(64)),
          wide_record(w, kKernelSymbols, w.bytes().zeros(3000000)),
          w.sample(10, 11, 6, {test::kContextUser, 0x700200})};
}

const std::vector<std::string> kFunctions = {
    "10 9000+10 jitted", "kernel ffffffff81000100+40 do_work",
    "/system/lib64/libc.so 4100+20 malloc", "/system/lib64/libc.so 4200+8 free",
    "/data/base.vdex 300+30 com.example.run"};

bool same_lines(std::vector<std::string> a, std::vector<std::string> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  CHECK(a == b);
  return a == b;
}

}  // namespace

TEST_CASE("simpleperf: captures convert, with their symbols and facts") {
  for (const bytes::ByteOrder order : {bytes::ByteOrder::kLittle, bytes::ByteOrder::kBig}) {
    for (const bool second : {false, true}) {
      CAPTURE(second);
      const PerfWriter w(order);
      TestBytes symbols = w.bytes();
      for (const TestFile& file : files()) {
        symbols.append((second ? file2_entry(w, file) : file_entry(w, file)).bytes);
      }
      TestBytes facts = w.bytes();
      for (const std::string_view text : {"simpleperf_version", "1.build.7848450",
                                          "event_type_info", "my-clock,1,0\nother,0,9"}) {
        facts.text(text).u8(0);
      }
      PerfWriter::FileShape shape;
      if (second) {
        shape.features = {{129, facts}, {132, symbols}};
      } else {
        shape.features = {{128, symbols}, {129, facts}};
      }
      const auto outcome = test::read_perf(w.file({test::TestAttr{}}, records(w), shape));
      REQUIRE(outcome.status.has_value());
      CHECK(outcome.balanced());
      CHECK_FALSE(outcome.damaged());
      CHECK(outcome.listing() == test::PerfOutcome::Listing{{"u700100", 1}, {"u700200", 1}});
      CHECK(same_lines(functions_of(outcome), kFunctions));
      CHECK(test::metadata_of(outcome).at("simpleperf.simpleperf_version") == "1.build.7848450");
      CHECK(outcome.sink->events.at(0).name == "my-clock");
    }
  }
}

TEST_CASE("simpleperf: a symbol section that makes no sense is counted, not believed") {
  const PerfWriter w;
  for (const std::uint32_t feature : {128U, 132U}) {
    const TestBytes whole = feature == 128 ? file_entry(w, files()[1]) : file2_entry(w, files()[1]);
    for (std::size_t size = 1; size < whole.bytes.size(); ++size) {
      CAPTURE(size);
      TestBytes cut = w.bytes();
      cut.append(std::span(whole.bytes).first(size));
      PerfWriter::FileShape shape;
      shape.features = {{feature, cut}};
      const auto outcome = test::read_perf(w.file({test::TestAttr{}}, records(w), shape));
      CHECK(outcome.balanced());
      CHECK(outcome.count(name_of(perf::skip::kFeaturesDamaged)) == 1);
      CHECK(functions_of(outcome).empty());
      // The content, with a size that fits.
      TestBytes inner = w.bytes();
      inner.append(std::span(whole.bytes).subspan(4).first(size - std::min<std::size_t>(size, 4)));
      shape.features = {{feature, with_size(w, inner)}};
      const auto refitted = test::read_perf(w.file({test::TestAttr{}}, records(w), shape));
      CHECK(refitted.balanced());
      CHECK(refitted.listing().size() == 2);
    }
  }
}

TEST_CASE("simpleperf: formats of tracepoints stand in the record itself, of either type") {
  // A sink that wants waits.
  class WaitSink final : public test::CollectingSink {
   public:
    capture::WaitFacts* wait_facts() override { return &facts_; }

   private:
    capture::WaitFacts facts_;
  };
  const PerfWriter w;
  test::TestAttr attr;
  attr.type = 2;  // tracepoint
  attr.config = 372;
  attr.flags = 0;
  attr.sample_type = perf::sample_bit::kIp | perf::sample_bit::kTid | perf::sample_bit::kTime |
                     perf::sample_bit::kRaw;
  const std::string format =
      "name: sched_waking\nID: 372\nformat:\n\tfield:pid_t pid;\toffset:4;\tsize:4;\tsigned:1;\n";
  TestBytes data = w.bytes();
  data.text("\x17\x08\x44tracing0.5").zeros(1).u8(0).u8(8).u32(4096);
  data.text("header_page").zeros(1).u64(0).text("header_event").zeros(1).u64(0).u32(0);
  data.u32(1).text("sched").zeros(1).u32(1).u64(format.size()).text(format);
  TestBytes sample = w.bytes();
  sample.u64(0x10).u32(5).u32(5).u64(1).u32(12).u32(0).u32(7).zeros(4);
  for (const std::uint32_t type : {66U, 32777U, 0U}) {
    CAPTURE(type);
    TestBytes payload = w.bytes();
    payload.u32(static_cast<std::uint32_t>(data.bytes.size()));
    payload.bytes.insert(payload.bytes.end(), data.bytes.begin(), data.bytes.end());
    std::vector<TestBytes> records;
    if (type != 0) {
      records.push_back(wide_record(w, type, payload));
    }
    records.push_back(w.record(RecordType::kSample, 2, sample));
    const auto bytes = w.file({attr}, records);
    perf::Input input;
    input.main = io::source_of_memory(bytes);
    WaitSink sink;
    REQUIRE(perf::read_capture(input, sink, {}));
    CHECK(sink.counters.count("wait_events_without_format") == (type == 0 ? 1 : 0));
    CHECK_FALSE(sink.counters.any_loss());
  }
}

TEST_CASE("simpleperf: event ids that come as a record belong to their attributes") {
  const PerfWriter w;
  test::TestAttr first;
  first.sample_type |= perf::sample_bit::kIdentifier;
  test::TestAttr second = first;
  second.config = 2;
  TestBytes ids = w.bytes();
  ids.u64(2).u64(0).u64(71).u64(1).u64(72);
  const auto sample = [&](std::uint64_t id) {
    TestBytes payload = w.bytes();
    payload.u64(id).u64(0x10).u32(5).u32(5).u64(1).u64(1).u64(0x10);
    return w.record(RecordType::kSample, 2, payload);
  };
  const auto outcome = test::read_perf(
      w.file({first, second},
             {wide_record(w, static_cast<std::uint32_t>(RecordType::kSimpleperfEventId), ids),
              sample(72), sample(71), sample(73)}));
  REQUIRE(outcome.sink->rows.size() == 2);
  CHECK(outcome.sink->rows[0].sample.event == 1);
  CHECK(outcome.sink->rows[1].sample.event == 0);
  CHECK(outcome.count(name_of(perf::skip::kUnknownEventId)) == 1);
}

TEST_CASE("simpleperf: symbols of code that was compiled at run time have addresses in memory") {
  const PerfWriter w;
  constexpr std::uint32_t kJitSymbolFile = 0x4000;
  const auto mapped = [&](std::uint32_t pid, std::uint64_t base, std::uint64_t time,
                          std::string_view path, std::uint32_t protection) {
    TestBytes payload = w.bytes();
    payload.u32(pid).u32(pid).u64(base).u64(0x1000).u64(0x3c0).zeros(24).u32(protection).u32(2);
    payload.text(path).u8(0).pad_to(8).u32(pid).u32(pid).u64(time);
    return w.record(RecordType::kMmap2, 0, payload);
  };
  constexpr std::string_view kCache = "/data/jit_app_cache:100-200";
  const std::vector<TestFile> symbols = {
      {kCache,
       2,
       0,
       {{0x9100, 0x40, "first"}, {0xa000, 0x40, "second"}, {0xf000, 8, "nowhere"}},
       0},
      {"/lib/plain.so", 2, 0x5000, {{0x5100, 0x20, "malloc"}}, 0x4000}};
  for (const bool second : {false, true}) {
    CAPTURE(second);
    TestBytes content = w.bytes();
    for (const TestFile& file : symbols) {
      content.append((second ? file2_entry(w, file) : file_entry(w, file)).bytes);
    }
    PerfWriter::FileShape shape;
    shape.features = {{second ? 132U : 128U, content}};
    const auto outcome = test::read_perf(w.file({test::TestAttr{}},
                                                {mapped(10, 0x9000, 5, kCache, kJitSymbolFile | 5),
                                                 mapped(10, 0xa000, 6, kCache, kJitSymbolFile | 5),
                                                 mapped(11, 0x9080, 7, kCache, kJitSymbolFile | 5),
                                                 mapped(10, 0x20000, 8, "/lib/plain.so", 5),
                                                 w.sample(10, 10, 9, {test::kContextUser, 0x9110})},
                                                shape));
    CHECK_FALSE(outcome.damaged());
    CHECK(same_lines(functions_of(outcome),
                     {"10 9100+40 first", "11 9100+40 first", "10 a000+40 second",
                      "11 a000+40 second", "/lib/plain.so 4100+20 malloc"}));
  }
}

TEST_CASE("simpleperf: records that are longer than the window are counted, too") {
  const PerfWriter w;
  const auto large = wide_record(w, kKernelSymbols, w.bytes().zeros(3000000));
  const auto small = wide_record(w, kKernelSymbols, w.bytes().zeros(64));
  const auto outcome = test::read_perf(w.pipe({test::TestAttr{}}, {small, large}));
  CHECK(outcome.balanced());
  CHECK(outcome.count("records_not_kept.simpleperf_kernel_symbol") == 2);
  CHECK(outcome.account.skipped.of(perf::skip::kRecordsNotKept) == 3000000 + 8 + 72);
  const auto ids = wide_record(w, static_cast<std::uint32_t>(RecordType::kSimpleperfEventId),
                               w.bytes().zeros(3000000));
  CHECK(test::read_perf(w.pipe({test::TestAttr{}}, {ids})).count("event_ids_missing") == 1);
}

TEST_CASE("simpleperf: a record that is cut is counted") {
  const PerfWriter w;
  TestBytes cut = wide_record(w, kKernelSymbols, w.bytes().zeros(3000000));
  cut.bytes.resize(2500000);
  const auto outcome = test::read_perf(
      w.pipe({test::TestAttr{}}, {w.sample(1, 1, 1, {test::kContextUser, 0x10}), cut}));
  CHECK(outcome.balanced());
  CHECK(outcome.listing().size() == 1);
  CHECK(outcome.count(name_of(perf::skip::kRecordCut)) == 1);
}
