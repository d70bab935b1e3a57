#include "formats/perf/perf_source.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "formats/perf/attr_table.h"
#include "formats/perf/file_header.h"
#include "formats/perf/perf_losses.h"
#include "perf_outcome.h"
#include "support/perf_writer.h"
#include "support/source_folder.h"

using namespace stackpack;
using perf::Container;
using test::kContextKernel;
using test::kContextUser;
using test::PerfWriter;
using test::TestBytes;

namespace {

const std::string kTestdata = test::source_folder() + "/testdata/";

test::PerfOutcome read_testdata(const std::string& name) {
  const std::string path = std::string(kTestdata).append(name).append(".perf.data");
  if (std::filesystem::is_directory(path)) {
    auto input = perf::open_directory(path);
    REQUIRE(input.has_value());
    return test::read_perf(*input);
  }
  const auto bytes = test::testdata(name + ".perf.data");
  REQUIRE_FALSE(bytes.empty());
  return test::read_perf(bytes);
}

// The chains as perf printed them, in the order of time: one line of numbers each.
std::vector<std::string> perf_chains(const std::string& name) {
  std::ifstream file(std::string(kTestdata) + name + ".chains.txt");
  std::vector<std::string> chains;
  std::string line;
  char mode = '?';
  while (std::getline(file, line)) {
    if (line.starts_with("SAMPLE")) {
      chains.emplace_back();
      continue;
    }
    const std::uint64_t entry = std::stoull(line, nullptr, 16);
    if (entry == kContextKernel || entry == kContextUser) {
      mode = entry == kContextKernel ? 'k' : 'u';
      continue;
    }
    char text[24];
    std::snprintf(text, sizeof text, "%s%c%llx", chains.back().empty() ? "" : " ", mode,
                  static_cast<unsigned long long>(entry));
    chains.back().append(text);
  }
  return chains;
}

}  // namespace

TEST_CASE("perf source: our recordings give the counts of a second reader") {
  struct Case {
    std::string name;
    std::uint64_t samples;
    std::uint64_t recorded;
    std::uint64_t empty;
    std::uint64_t unique;
  };
  const Case cases[] = {
      {"dwarf", 25, 9, 16, 7},    {"events", 72, 72, 0, 65},   {"file", 137, 137, 0, 95},
      {"group", 64, 64, 0, 24},   {"killed", 139, 139, 0, 62}, {"no-chains", 51, 0, 0, 0},
      {"pipe", 126, 126, 0, 78},  {"threads", 85, 85, 0, 56},  {"tiny-pipe", 7, 7, 0, 6},
      {"tiny-zstd", 8, 8, 0, 6},  {"tiny", 5, 5, 0, 5},        {"zstd-pipe", 44, 44, 0, 33},
      {"zstd", 137, 137, 0, 100},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const auto outcome = read_testdata(c.name);
    REQUIRE(outcome.status.has_value());
    std::uint64_t recorded = 0;
    std::uint64_t empty = 0;
    for (const auto& row : outcome.sink->settled()) {
      recorded += row.sample.origin == StackOrigin::kRecorded ? 1 : 0;
      empty += (row.sample.flags & kSampleEmptyChain) != 0 ? 1 : 0;
    }
    CHECK(outcome.sink->rows.size() == c.samples);
    CHECK(recorded == c.recorded);
    CHECK(empty == c.empty);
    CHECK(outcome.listing().size() == c.unique);
    CHECK(outcome.balanced());
    CHECK(outcome.damaged() == (std::string_view(c.name) == "killed"));
  }
}

TEST_CASE("perf source: every stack is the one that perf finds in the record") {
  for (const char* name : {"file", "zstd", "pipe", "threads", "events", "group"}) {
    CAPTURE(name);
    auto rows = read_testdata(name).sink->settled();
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return a.sample.time_ns < b.sample.time_ns;
    });
    std::erase_if(rows, [](const auto& row) {  // chains are those of records
      return (row.sample.flags & kSampleSameRecord) != 0;
    });
    const auto chains = perf_chains(name);
    REQUIRE(rows.size() == chains.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CAPTURE(i);
      CHECK(rows[i].stack == chains[i]);
    }
  }
}

TEST_CASE("perf source: a sink that remembers stacks and one that does not see the same") {
  std::uint64_t known = 0;
  for (const char* name : {"file", "pipe", "zstd", "threads", "group", "dwarf", "events"}) {
    CAPTURE(name);
    const test::PerfOutcome remembering = read_testdata(name);
    test::PerfOutcome forgetful;
    forgetful.sink->remembers = false;
    const std::string path = std::string(kTestdata) + name + ".perf.data";
    auto input = std::filesystem::is_directory(path) ? *perf::open_directory(path) : perf::Input{};
    const auto bytes =
        input.main ? std::vector<std::byte>{} : test::testdata(std::string(name) + ".perf.data");
    if (!input.main) {
      input.main = io::source_of_memory(bytes);
    }
    REQUIRE(perf::read_capture(input, *forgetful.sink, {}).has_value());
    CHECK(forgetful.sink->known_samples == 0);
    known += remembering.sink->known_samples;
    REQUIRE(forgetful.sink->rows.size() == remembering.sink->rows.size());
    for (std::size_t i = 0; i < forgetful.sink->rows.size(); ++i) {
      REQUIRE(forgetful.sink->rows[i].sample == remembering.sink->rows[i].sample);
      REQUIRE(forgetful.sink->rows[i].stack == remembering.sink->rows[i].stack);
    }
  }
  CHECK(known > 100);
}

TEST_CASE("perf source: dumps without a chain are counted, and no byte of them comes out") {
  const auto outcome = read_testdata("dwarf");
  CHECK(outcome.count(perf::loss::kDumpWithoutChain) == 16);
  for (const auto& row : outcome.sink->rows) {
    CHECK((row.sample.flags & kSampleStackDump) != 0);
    CHECK(row.stack.find('u') ==
          (row.sample.origin == StackOrigin::kIpOnly ? 0 : std::string::npos));
  }
}

TEST_CASE("perf source: a killed recorder's capture is read to its end") {
  const auto outcome = read_testdata("killed");
  CHECK(outcome.count(perf::loss::kDataSizeMissing) == 1);
  CHECK(outcome.sink->events[0].name == "cpu-clock");
}

TEST_CASE("perf source: names of events, metadata, processes and modules of a recording") {
  const auto outcome = read_testdata("events");
  std::vector<std::string> names;
  for (const Event& event : outcome.sink->events) {
    names.push_back(event.name);
    CHECK(event.has_weight);
  }
  CHECK(names == std::vector<std::string>{"cpu-clock", "page-faults", "context-switches"});
  const auto tables = outcome.sink->system_facts.finish();
  bool host = false;
  for (const MetadataEntry& entry : tables.metadata) {
    host = host || (entry.key == "host.name" && entry.value == "stackpack-test");
  }
  CHECK(host);
  bool named = false;
  for (const Thread& thread : tables.threads) {
    named = named || thread.name == "worker-1";
  }
  CHECK(named);
  bool identified = false;
  for (const Module& module : tables.modules) {
    identified =
        identified || (module.path == "/tmp/stackpack/frames" && module.build_id.size() == 20);
  }
  CHECK(identified);
}

TEST_CASE("perf source: a pipe reads the same from a saved file and byte by byte") {
  const auto bytes = test::testdata("pipe.perf.data");
  const auto saved = test::read_perf(bytes);
  for (const std::size_t step : {std::size_t{1}, std::size_t{1000}, std::size_t{1} << 30}) {
    CAPTURE(step);
    const auto piped = test::read_perf_pipe(bytes, step);
    CHECK(piped.listing() == saved.listing());
    CHECK(piped.account.total == bytes.size());
    CHECK(piped.balanced());
  }
}

TEST_CASE("perf source: the container is known by magic and header size") {
  struct Case {
    std::string name;
    std::string_view magic;
    std::uint64_t size;
    bytes::ByteOrder order;
    Container container;
  };
  const bytes::ByteOrder little = bytes::ByteOrder::kLittle;
  const bytes::ByteOrder big = bytes::ByteOrder::kBig;
  const Case cases[] = {
      {"file", "PERFILE2", 104, little, Container::kFile},
      {"old file", "PERFILE2", 72, little, Container::kFile},
      {"pipe", "PERFILE2", 16, little, Container::kPipe},
      {"big-endian file", "2ELIFREP", 104, big, Container::kFile},
      {"big-endian pipe", "2ELIFREP", 16, big, Container::kPipe},
      {"version 1", "PERFFILE", 104, little, Container::kFile},
      {"version 1, big-endian pipe", "PERFFILE", 16, big, Container::kPipe},
      {"not perf", "PERFILE3", 104, little, Container::kNotPerf},
      {"text", "# a text", 104, little, Container::kNotPerf},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    TestBytes bytes(c.order);
    bytes.text(c.magic).u64(c.size);
    CHECK(perf::detect(bytes.bytes) == c.container);
    CHECK(perf::detect(std::span(bytes.bytes).first(7)) == Container::kNotPerf);
  }
  CHECK(perf::detect({}) == Container::kNotPerf);
}

TEST_CASE("perf source: twins in both byte orders, all header sizes and containers agree") {
  const auto records = [](const PerfWriter& w) {
    return std::vector<TestBytes>{
        w.sample(1, 2, 10, {kContextKernel, 0xffffffff81000010, kContextUser, 0x401000}),
        w.sample(1, 3, 11, {kContextUser, 0x401000, 0x402000}), w.sample(0, 0, 12, {})};
  };
  const PerfWriter little;
  const PerfWriter big(bytes::ByteOrder::kBig);
  const auto wanted = test::read_perf(little.file({test::TestAttr{}}, records(little)));
  REQUIRE(wanted.listing().size() == 2);
  std::vector<std::vector<std::byte>> captures;
  for (const PerfWriter* w : {&little, &big}) {
    for (const std::uint64_t header_size : {std::uint64_t{72}, std::uint64_t{104}}) {
      for (const std::string_view version : {"PERFILE2", "PERFFILE"}) {
        for (const bool size_missing : {false, true}) {
          PerfWriter::FileShape shape;
          shape.version = version;
          shape.header_size = header_size;
          shape.size_missing = size_missing;
          captures.push_back(w->file({test::TestAttr{}}, records(*w), shape));
        }
      }
    }
    captures.push_back(w->pipe({test::TestAttr{}}, records(*w)));
    test::TestAttr large;
    large.size = 200;
    captures.push_back(w->file({large}, records(*w)));
    captures.push_back(w->pipe({large}, records(*w)));
  }
  for (std::size_t i = 0; i < captures.size(); ++i) {
    CAPTURE(i);
    const auto outcome = test::read_perf(captures[i]);
    REQUIRE(outcome.status.has_value());
    CHECK(outcome.listing() == wanted.listing());
    REQUIRE(outcome.sink->rows.size() == 3);
    for (std::size_t row = 0; row < 3; ++row) {
      CHECK(outcome.sink->rows[row].sample == wanted.sink->rows[row].sample);
    }
    CHECK(outcome.balanced());
  }
}

TEST_CASE("perf source: origin and flags of samples") {
  const PerfWriter w;
  const auto outcome = test::read_perf(
      w.file({test::TestAttr{}},
             {w.sample(0, 0, 1, {kContextKernel, 0xf1}), w.sample(5, 5, 2, {}),
              w.sample(5, 5, 3, {kContextUser}), w.sample(0, 7, 4, {kContextKernel, 0xf1})}));
  const auto& rows = outcome.sink->rows;
  REQUIRE(rows.size() == 4);
  CHECK(rows[3].sample.flags == 0);  // a thread of its own, though the process is 0
  CHECK(rows[0].sample.origin == StackOrigin::kRecorded);
  CHECK(rows[0].sample.flags == kSampleIdle);
  for (const std::size_t i : {1U, 2U}) {
    CHECK(rows[i].sample.origin == StackOrigin::kIpOnly);
    CHECK(rows[i].sample.flags == kSampleEmptyChain);
    CHECK(rows[i].stack == "u0");
  }
  CHECK(rows[0].sample.weight == 1);
  CHECK_FALSE(outcome.sink->events[0].has_weight);

  test::TestAttr fixed;
  fixed.period = 250'000;
  const auto weighed = test::read_perf(w.file({fixed}, {w.sample(5, 5, 2, {0x10})}));
  REQUIRE(weighed.sink->rows.size() == 1);
  CHECK(weighed.sink->rows[0].sample.weight == 250'000);
  CHECK(weighed.sink->events[0].has_weight);

  test::TestAttr bare;
  bare.sample_type = perf::sample_bit::kTime | perf::sample_bit::kPeriod;
  TestBytes payload;
  payload.u64(9).u64(4711);
  const auto none =
      test::read_perf(w.file({bare}, {w.record(perf::RecordType::kSample, 1, payload)}));
  REQUIRE(none.sink->rows.size() == 1);
  CHECK(none.sink->rows[0].sample.origin == StackOrigin::kNone);
  CHECK(none.sink->rows[0].sample.weight == 4711);
  CHECK(none.sink->rows[0].sample.pid == kUnknownId);
}

TEST_CASE("perf source: the processor's call stack makes user frames, branch history never does") {
  struct Case {
    std::string name;
    std::uint64_t branch_type;
    std::uint64_t flags;
    std::vector<std::uint64_t> chain;
    std::string stack;
  };
  using perf::branch_bit::kCallStack;
  using perf::branch_bit::kHwIndex;
  const Case cases[] = {
      {"call stack",
       kCallStack | kHwIndex,
       0,
       {kContextKernel, 0xf1, kContextUser, 0x10},
       "kf1 u10 u20 u30"},
      {"user part left out",
       kCallStack | kHwIndex,
       perf::attr_flag::kExcludeCallchainUser,
       {kContextKernel, 0xf1},
       "kf1 u10 u20 u30"},
      {"no user part", kCallStack | kHwIndex, 0, {kContextKernel, 0xf1}, "kf1"},
      {"branch history", kHwIndex, 0, {kContextKernel, 0xf1, kContextUser, 0x10}, "kf1 u10"},
  };
  const PerfWriter w;
  for (const Case& c : cases) {
    CAPTURE(c.name);
    test::TestAttr attr;
    attr.sample_type =
        perf::sample_bit::kIp | perf::sample_bit::kCallchain | perf::sample_bit::kBranchStack;
    attr.branch_sample_type = c.branch_type;
    attr.flags |= c.flags;
    TestBytes payload;
    payload.u64(0xf1).u64(c.chain.size());
    for (const std::uint64_t entry : c.chain) {
      payload.u64(entry);
    }
    payload.u64(2).u64(0);  // count, hardware index
    payload.u64(0x20).u64(0x10).u64(0).u64(0x30).u64(0x1f).u64(0);
    const auto outcome =
        test::read_perf(w.file({attr}, {w.record(perf::RecordType::kSample, 1, payload)}));
    CHECK(outcome.listing() == test::PerfOutcome::Listing{{c.stack, 1}});
  }
}

TEST_CASE("perf source: several events with layouts of their own; an unknown id is counted") {
  const PerfWriter w;
  test::TestAttr chains;
  chains.sample_type =
      perf::sample_bit::kIdentifier | perf::sample_bit::kIp | perf::sample_bit::kCallchain;
  chains.ids = {100, 101};
  test::TestAttr plain;
  plain.sample_type =
      perf::sample_bit::kIdentifier | perf::sample_bit::kIp | perf::sample_bit::kTid;
  plain.config = 2;
  plain.ids = {200};
  const auto sample = [&](std::initializer_list<std::uint64_t> words) {
    TestBytes payload;
    for (const std::uint64_t word : words) {
      payload.u64(word);
    }
    return w.record(perf::RecordType::kSample, 2, payload);
  };
  const std::vector<TestBytes> records = {sample({101, 0x10, 2, kContextUser, 0x10}),
                                          sample({200, 0x20, 0x300000002}),
                                          sample({999, 0x30, 2, kContextUser, 0x30})};
  for (const auto& capture : {w.file({chains, plain}, records), w.pipe({chains, plain}, records)}) {
    const auto outcome = test::read_perf(capture);
    CHECK(outcome.listing() == test::PerfOutcome::Listing{{"u10", 1}});
    REQUIRE(outcome.sink->rows.size() == 2);
    CHECK(outcome.sink->rows[0].sample.event == 0);
    CHECK(outcome.sink->rows[1].sample.event == 1);
    CHECK(outcome.sink->rows[1].sample.pid == 2);
    CHECK(outcome.sink->rows[1].sample.tid == 3);
    CHECK(outcome.sink->events[1].name == "page-faults");
    CHECK(outcome.count(name_of(perf::skip::kUnknownEventId)) == 1);
    CHECK(outcome.balanced());
  }
}

TEST_CASE("perf source: in a pipe, attributes may come late, but not after their samples") {
  const PerfWriter w;
  const TestBytes sample = w.sample(1, 1, 1, {kContextUser, 0x10});
  const auto outcome =
      test::read_perf(w.pipe({}, {sample, w.attr_record(test::TestAttr{}), sample}));
  CHECK(outcome.listing() == test::PerfOutcome::Listing{{"u10", 1}});
  CHECK(outcome.count(name_of(perf::skip::kUnknownEventId)) == 1);
}

TEST_CASE("perf source: attributes beyond the limit are not events, and are counted") {
  const PerfWriter w;
  const std::vector<test::TestAttr> attrs(perf::AttrTable::kMaxRows + 2);
  const auto outcome = test::read_perf(w.file(attrs, {w.sample(5, 5, 1, {kContextUser, 0x1})}));
  CHECK(outcome.sink->events.size() == perf::AttrTable::kMaxRows);
  CHECK(outcome.balanced());
  CHECK(outcome.count(perf::loss::kBadAttributes) != 0);
}

TEST_CASE("perf source: input of which nothing can be read is an error that says where") {
  const PerfWriter w;
  const auto good = w.file({test::TestAttr{}}, {});
  const auto with = [&](std::size_t at, std::uint64_t value) {
    auto bytes = good;
    TestBytes field;
    field.u64(value);
    std::copy(field.bytes.begin(), field.bytes.end(),
              bytes.begin() + static_cast<std::ptrdiff_t>(at));
    return bytes;
  };
  TestBytes text;
  text.text("this is a text file, and a rather long one, so that it has a header's size\n");
  text.text("and more than that of an attribute");
  struct Case {
    std::string name;
    std::vector<std::byte> bytes;
    std::uint64_t offset;
  };
  const std::uint64_t huge = ~std::uint64_t{0};
  const Case cases[] = {
      {"empty", {}, 0},
      {"text", text.bytes, 0},
      {"magic alone", std::vector(good.begin(), good.begin() + 8), 8},
      {"header cut", std::vector(good.begin(), good.begin() + 50), 50},
      {"header size", with(8, 105), 8},
      {"attribute size 0", with(16, 0), 16},
      {"attribute size small", with(16, 79), 16},
      {"attribute size huge", with(16, huge), 16},
      {"attributes outside", with(24, 1 << 20), 24},
      {"attributes at the end of the world", with(24, huge), 24},
      {"attributes too large", with(32, huge), 24},
      {"no attribute", with(32, 0), 32},
      {"pipe without attribute", w.pipe({}, {}), 16},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const auto outcome = test::read_perf(c.bytes);
    REQUIRE_FALSE(outcome.status.has_value());
    CHECK(outcome.status.error().what.starts_with("perf: "));
    CHECK(outcome.status.error().offset == c.offset);
    CHECK(outcome.sink->rows.empty());
  }
}

TEST_CASE("perf source: a file-mode capture from a pipe is refused, not misread") {
  const PerfWriter w;
  const auto bytes = w.file({test::TestAttr{}}, {});
  const auto outcome = test::read_perf_pipe(bytes, 100);
  REQUIRE_FALSE(outcome.status.has_value());
  CHECK(outcome.status.error().code == ErrorCode::kUnsupported);
}

TEST_CASE("perf source: sections that lie outside are damage where the rest can be read") {
  const PerfWriter w;
  PerfWriter::FileShape shape;
  TestBytes host;
  host.u32(4).text("box").zeros(1);
  shape.features = {{3, host}, {4, host}};
  test::TestAttr attr;
  attr.ids = {1, 2};
  const auto good = w.file({attr}, {w.sample(1, 1, 1, {kContextUser, 0x10})}, shape);
  const std::uint64_t huge = ~std::uint64_t{0};
  const std::size_t ids = 104 + 16 + 112;
  const std::size_t table = good.size() - 2 * 8 - 2 * 16;
  struct Case {
    std::string name;
    std::size_t at;
    std::uint64_t value;
    std::size_t stacks;
  };
  const Case cases[] = {{"ids far away", ids, huge, 1},
                        {"ids too many", ids + 8, huge, 1},
                        {"feature far away", table, huge, 1},
                        {"feature too large", table + 8, huge, 1},
                        {"second feature", table + 24, std::uint64_t{1} << 40, 1},
                        {"data too large", 48, huge, 1},
                        {"data far away", 40, huge, 0},
                        {"data after the end", 40, good.size() + 1, 0}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    auto bytes = good;
    TestBytes field;
    field.u64(c.value);
    std::copy(field.bytes.begin(), field.bytes.end(),
              bytes.begin() + static_cast<std::ptrdiff_t>(c.at));
    const auto outcome = test::read_perf(bytes);
    REQUIRE(outcome.status.has_value());
    CHECK(outcome.damaged());
    CHECK(outcome.listing().size() == c.stacks);
    CHECK(outcome.balanced());
    CHECK(outcome.account.total == bytes.size());
  }
}

TEST_CASE("perf source: bytes after the last section are counted") {
  const PerfWriter w;
  auto bytes = w.file({test::TestAttr{}}, {w.sample(1, 1, 1, {})});
  bytes.resize(bytes.size() + 33, std::byte{0xEE});
  const auto outcome = test::read_perf(bytes);
  CHECK(outcome.count(name_of(perf::skip::kUnreferenced)) == 33);
  CHECK(outcome.account.skipped.total() == 33);
  CHECK(outcome.balanced());
}

TEST_CASE("perf source: progress is reported, and a wish to stop is heard") {
  const auto bytes = test::testdata("file.perf.data");
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> cancelled{false};
  perf::ReadOptions options;
  options.control = {&done, &cancelled};
  perf::Input input;
  input.main = io::source_of_memory(bytes);
  CHECK(test::read_perf(input, options).status.has_value());
  CHECK(done.load() > bytes.size() / 2);
  CHECK(done.load() <= bytes.size());
  cancelled = true;
  const auto outcome = test::read_perf(input, options);
  REQUIRE_FALSE(outcome.status.has_value());
  CHECK(outcome.status.error().code == ErrorCode::kCancelled);
}

TEST_CASE("perf source: a sample that does not fill its record must begin at its ip") {
  const PerfWriter w;
  struct Case {
    std::string name;
    std::uint64_t sample_type;
    std::uint64_t ip;
    std::string_view counter;  // of a sample that is kept; empty: it is rejected
  };
  using namespace perf::sample_bit;
  const Case cases[] = {{"begins at its ip", kIp | kCallchain, 0x10, perf::loss::kOverlongSamples},
                        {"begins elsewhere", kIp | kCallchain, 0x11, ""},
                        {"no ip", kTime | kCallchain, 0x10, ""},
                        {"unknown fields announced", kIp | kCallchain | 1U << 30, 0x11,
                         perf::loss::kUnreadSampleBytes}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    test::TestAttr attr;
    attr.sample_type = c.sample_type;
    TestBytes payload;
    payload.u64(c.ip).u64(2).u64(kContextUser).u64(0x10).u64(0xabc);
    const auto outcome =
        test::read_perf(w.file({attr}, {w.record(perf::RecordType::kSample, 2, payload)}));
    const bool kept = !c.counter.empty();
    CHECK(outcome.sink->rows.size() == (kept ? 1 : 0));
    CHECK(outcome.count(name_of(perf::skip::kBadSamples)) == (kept ? 0 : 1));
    for (const auto counter : {perf::loss::kOverlongSamples, perf::loss::kUnreadSampleBytes}) {
      CHECK(outcome.count(counter) == (c.counter == counter ? 1 : 0));
    }
    CHECK(outcome.damaged() == (c.counter != perf::loss::kUnreadSampleBytes));
    CHECK(outcome.balanced());
  }
}

TEST_CASE("perf source: where ids were lost, samples with an id are given to nobody by guess") {
  const PerfWriter w;
  test::TestAttr attr;
  attr.sample_type |= perf::sample_bit::kIdentifier;
  attr.ids = {5};
  TestBytes payload;
  payload.u64(5).u64(0x10).u32(1).u32(1).u64(3).u64(1).u64(0x10);
  const TestBytes sample = w.record(perf::RecordType::kSample, 2, payload);
  auto bytes = w.file({attr, attr}, {sample});
  CHECK(test::read_perf(bytes).sink->rows.size() == 1);
  TestBytes far;
  far.u64(~std::uint64_t{0});
  for (std::size_t i = 0; i < 2; ++i) {  // the offset of each one's ids
    std::copy(far.bytes.begin(), far.bytes.end(),
              bytes.begin() + static_cast<std::ptrdiff_t>(104 + 16 + i * 128 + 112));
  }
  const auto outcome = test::read_perf(bytes);
  CHECK(outcome.sink->rows.empty());
  CHECK(outcome.count(perf::loss::kEventIdsMissing) == 2);
  CHECK(outcome.count(name_of(perf::skip::kUnknownEventId)) == 1);
}

TEST_CASE("perf source: as many ids as fit are read, and of one more none") {
  const PerfWriter w;
  for (const std::size_t more : {0U, 1U}) {
    CAPTURE(more);
    test::TestAttr attr;
    attr.ids.assign(perf::AttrTable::kMaxIds + more, 5);
    const auto outcome = test::read_perf(w.file({attr}, {w.sample(1, 1, 1, {kContextUser, 0x10})}));
    REQUIRE(outcome.status.has_value());
    CHECK(outcome.sink->rows.size() == 1);
    CHECK(outcome.count(perf::loss::kEventIdsMissing) == more);
  }
}
