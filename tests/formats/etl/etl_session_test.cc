// Several traces of one recording, read together.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "formats/etl/etl_source.h"
#include "support/etl_reading.h"
#include "support/test_bytes.h"

using stackpack::ErrorCode;
using stackpack::kUnknownTime;
using stackpack::StackOrigin;
using stackpack::io::ByteSource;
using stackpack::test::EtlOptions;
using stackpack::test::EtlReading;
using stackpack::test::EtlWriter;
using stackpack::test::kEtlStartFiletime;
using stackpack::test::kK;
using stackpack::test::kU;
using stackpack::test::make_etl;
using stackpack::test::TestBytes;

namespace etl = stackpack::etl;

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint32_t kPid = 100;
constexpr std::uint32_t kTid = 200;
constexpr std::uint64_t kOrigin = 1'000'000;
constexpr std::uint64_t kTicksPerMs = 10'000;
constexpr etl::Guid kProvider = etl::make_guid(0x12345678, 0x9abc, 0xdef0, 0x1122, 0x334455667788);

std::unique_ptr<EtlReading> read_all(const std::vector<Bytes>& files) {
  auto reading = std::make_unique<EtlReading>();
  std::vector<std::unique_ptr<ByteSource>> sources;
  std::vector<ByteSource*> inputs;
  for (const Bytes& file : files) {
    sources.push_back(stackpack::io::source_of_memory(file));
    inputs.push_back(sources.back().get());
  }
  etl::ReadOptions options;
  options.summary = &reading->summary;
  const auto account = etl::read_session(inputs, reading->sink, options);
  reading->failed = !account.has_value();
  if (account) {
    reading->account = *account;
  } else {
    reading->error = account.error();
  }
  return reading;
}

EtlOptions starting_at(std::uint64_t clock, std::int64_t wall_error = 0) {
  EtlOptions options;
  options.clock_origin = clock;
  options.start_filetime = static_cast<std::uint64_t>(
      static_cast<std::int64_t>(kEtlStartFiletime + (clock - kOrigin)) + wall_error);
  options.end_filetime = options.start_filetime + 100'000'000;
  return options;
}

// What the kernel says: the process, its thread, an image on a volume.
Bytes kernel_trace(const EtlOptions& options = starting_at(kOrigin)) {
  return make_etl(options, [](EtlWriter& writer) {
    writer.process(0, kOrigin + 10, 3, kPid, 4, "app.exe", "app.exe --fast");
    writer.thread(0, kOrigin + 11, 3, kPid, kTid);
    writer.image(0, kOrigin + 12, 3, kPid, kU, 0x10000, "\\Device\\HarddiskVolume3\\app.exe");
    writer.sample(0, kOrigin + 2 * kTicksPerMs, kTid, kU + 0x100);
  });
}

// What the program says: an event with its callstack, and where the volume is.
Bytes user_trace(const EtlOptions& options = starting_at(kOrigin + kTicksPerMs)) {
  return make_etl(options, [](EtlWriter& writer) {
    writer.volume(1, kOrigin + kTicksPerMs + 5, "\\Device\\HarddiskVolume3", "C:");
    writer.provider(1, kOrigin + kTicksPerMs + 50, kProvider, 7, 0, 0, kTid, kPid, TestBytes(),
                    {writer.stack_item(0, {kU + 0x200, kU + 0x300})});
    writer.sample(1, kOrigin + 3 * kTicksPerMs, kTid, kU + 0x400);
  });
}

// The identities of images, as a merge adds them.
Bytes identity_trace() {
  return make_etl(starting_at(kOrigin), [](EtlWriter& writer) {
    writer.rsds(0, kOrigin + 20, kPid, kU, kProvider, 3, "app.pdb");
  });
}

std::string text_of(const EtlReading& reading) {
  std::string text;
  for (const auto& row : reading.sink.settled()) {
    text += std::to_string(row.sample.time_ns) + ' ' + std::to_string(row.sample.pid) + ' ' +
            std::to_string(row.sample.tid) + ' ' + std::to_string(row.sample.event) + ' ' +
            row.stack + '\n';
  }
  for (const auto& event : reading.sink.events) {
    text += event.name + '\n';
  }
  const auto tables = reading.sink.system_facts.finish();
  for (const auto& process : tables.processes) {
    text += std::to_string(process.pid) + ' ' + process.name + ' ' +
            std::to_string(process.start_ns) + '\n';
  }
  for (const auto& module : tables.modules) {
    text += module.path + ' ' + module.debug_name + '\n';
  }
  for (const auto& entry : tables.metadata) {
    text += entry.key + '=' + entry.value + '\n';
  }
  for (const auto& loss : reading.sink.counters.sorted()) {
    text += loss.name + ' ' + std::to_string(loss.count) + '\n';
  }
  return text;
}

}  // namespace

TEST_CASE("etl session: what one trace says of the machine holds for the events of all") {
  const auto reading = read_all({user_trace(), kernel_trace(), identity_trace()});
  REQUIRE_FALSE(reading->failed);
  CHECK(reading->accounted());
  const auto tables = reading->sink.system_facts.finish();
  REQUIRE(tables.processes.size() == 1);
  CHECK(tables.processes[0].name == "app.exe");
  REQUIRE(tables.modules.size() == 1);
  CHECK(tables.modules[0].path == "C:\\app.exe");  // the volume is in the other trace
  CHECK(tables.modules[0].debug_name == "app.pdb");
  const auto rows = reading->sink.settled();
  REQUIRE(rows.size() == 3);
  for (const auto& row : rows) {
    CHECK(row.sample.pid == kPid);  // of the samples: by the thread table of the other trace
  }
  CHECK(reading->summary.processes == 1);
  CHECK(reading->summary.timer_samples == 2);
  CHECK(reading->summary.extended_stacks == 1);
}

TEST_CASE("etl session: thread 0 is every processor's idle thread, and nobody's") {
  const Bytes kernel = make_etl(starting_at(kOrigin), [](EtlWriter& writer) {
    writer.process(0, kOrigin + 10, 3, kPid, 4, "app.exe", "app.exe --fast");
    writer.thread(0, kOrigin + 11, 3, kPid, 0);
    writer.thread(0, kOrigin + 12, 3, kPid, kTid);
    writer.sample(0, kOrigin + 2 * kTicksPerMs, 0, kK + 0x100);
  });
  const auto reading = read_all({kernel, user_trace()});
  REQUIRE_FALSE(reading->failed);
  bool idle = false;
  for (const auto& row : reading->sink.settled()) {
    idle |= row.sample.tid == 0;
    CHECK(row.sample.pid == (row.sample.tid == 0 ? 0 : kPid));
  }
  CHECK(idle);
}

TEST_CASE("etl session: the order of the inputs does not show") {
  std::vector<Bytes> files = {kernel_trace(), user_trace(), identity_trace()};
  const std::string expected = text_of(*read_all(files));
  std::sort(files.begin(), files.end());
  int orders = 0;
  do {
    CHECK(text_of(*read_all(files)) == expected);
    ++orders;
  } while (std::next_permutation(files.begin(), files.end()));
  CHECK(orders == 6);
}

TEST_CASE("etl session: traces are put on the clock of the first, not on their own wall times") {
  // The wall time that the second trace noted is 5 ms late, as coarse ones are.
  const auto reading =
      read_all({user_trace(starting_at(kOrigin + kTicksPerMs, 50'000)), kernel_trace()});
  REQUIRE_FALSE(reading->failed);
  const auto rows = reading->sink.settled();
  REQUIRE(rows.size() == 3);
  const std::uint64_t start = (kEtlStartFiletime - 116444736000000000) * 100;
  CHECK(rows[0].sample.time_ns == start + 1'000'000 + 5'000);
  CHECK(rows[1].sample.time_ns == start + 2'000'000);
  CHECK(rows[2].sample.time_ns == start + 3'000'000);
  CHECK(reading->loss("session_clocks_apart") == 0);
}

TEST_CASE("etl session: traces of different boots keep their own times, and are counted") {
  constexpr std::int64_t kDay = std::int64_t{86400} * 10'000'000;
  const auto reading =
      read_all({kernel_trace(), user_trace(starting_at(kOrigin + kTicksPerMs, kDay))});
  REQUIRE_FALSE(reading->failed);
  CHECK(reading->loss("session_clocks_apart") == 1);
  const auto rows = reading->sink.settled();
  REQUIRE(rows.size() == 3);
  const auto [first, last] = std::minmax_element(
      rows.begin(), rows.end(),
      [](const auto& a, const auto& b) { return a.sample.time_ns < b.sample.time_ns; });
  const auto of_day = static_cast<std::uint64_t>(kDay) * 100;
  CHECK(last->sample.time_ns - first->sample.time_ns > of_day);
}

TEST_CASE("etl session: a rundown at the end of one trace is not a second life") {
  const Bytes live = make_etl(starting_at(kOrigin), [](EtlWriter& writer) {
    writer.process(0, kOrigin + 500, 1, kPid, 4, "app.exe", "app.exe");
    writer.thread(0, kOrigin + 501, 1, kPid, kTid);
  });
  const Bytes rundown = make_etl(starting_at(kOrigin + 5), [](EtlWriter& writer) {
    writer.process(0, kOrigin + 9000, 4, kPid, 4, "app.exe", "app.exe");
    writer.thread(0, kOrigin + 9001, 4, kPid, kTid);
  });
  const auto reading = read_all({rundown, live});
  REQUIRE_FALSE(reading->failed);
  const auto tables = reading->sink.system_facts.finish();
  REQUIRE(tables.processes.size() == 1);
  CHECK(tables.processes[0].start_ns != kUnknownTime);
  CHECK(tables.threads.size() == 1);
}

TEST_CASE("etl session: stack keys of one trace do not resolve those of another") {
  const auto trace = [](std::uint64_t shift, std::uint64_t leaf) {
    return make_etl(starting_at(kOrigin + shift), [=](EtlWriter& writer) {
      const std::uint64_t clock = kOrigin + 1000 + shift;
      writer.sample(0, clock, kTid, kU);
      writer.key_reference(0, clock + 10, clock, kPid, kTid, 0xABC, true);
      writer.key_definition(0, clock + 5000 - 10 * shift, 0xABC, {kK + leaf, kK + 1});
    });
  };
  const auto reading = read_all({trace(0, 0x10), trace(100, 0x20)});
  REQUIRE_FALSE(reading->failed);
  const auto rows = reading->sink.settled();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].sample.time_ns < rows[1].sample.time_ns);
  CHECK(rows[0].stack == "kfffff80000000010 kfffff80000000001");
  CHECK(rows[1].stack == "kfffff80000000020 kfffff80000000001");
  CHECK(reading->loss("undefined_stack_keys") == 0);
}

TEST_CASE("etl session: events of one name have one row, and losses add up") {
  EtlOptions first = starting_at(kOrigin);
  first.events_lost = 3;
  first.buffers_lost = 1;
  EtlOptions second = starting_at(kOrigin + kTicksPerMs);
  second.events_lost = 4;
  const auto reading = read_all({kernel_trace(first), user_trace(second)});
  REQUIRE_FALSE(reading->failed);
  CHECK(reading->sink.events.size() == 2);  // profile samples, and the provider's event
  CHECK(reading->loss("recorder_lost_events") == 7);
  CHECK(reading->loss("recorder_lost_buffers") == 1);
}

TEST_CASE("etl session: a trace given twice is read once") {
  const auto once = read_all({kernel_trace(), user_trace()});
  const auto twice = read_all({kernel_trace(), user_trace(), kernel_trace()});
  REQUIRE_FALSE(twice->failed);
  CHECK(twice->loss("repeated_traces") == 1);
  CHECK(twice->sink.rows.size() == once->sink.rows.size());
  CHECK(twice->account.total == once->account.total);
}

TEST_CASE("etl session: a trace of which nothing can be read is counted, and its bytes") {
  const Bytes garbage(5000, std::byte{0x5A});
  const auto reading = read_all({kernel_trace(), garbage, {}});
  REQUIRE_FALSE(reading->failed);
  CHECK(reading->sink.rows.size() == 1);
  CHECK(reading->loss("unreadable_traces") == 2);
  CHECK(reading->accounted());
  CHECK(reading->account.total == kernel_trace().size() + garbage.size());
  const auto none = read_all({garbage, garbage});
  REQUIRE(none->failed);
  CHECK(none->error.part == 0);
}

TEST_CASE("etl session: a single trace is read as by itself, and no trace is an error") {
  const auto alone = stackpack::test::read_etl(kernel_trace());
  CHECK(text_of(*read_all({kernel_trace()})) == text_of(*alone));
  CHECK(read_all({})->error.code == ErrorCode::kUsage);
  CHECK(read_all(std::vector<Bytes>(etl::kMostTraces + 1))->error.code == ErrorCode::kLimit);
}
