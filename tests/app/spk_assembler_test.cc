#include "app/convert/spk_assembler.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "stackpack/convert.h"
#include "stackpack/reader.h"
#include "support/collecting_sink.h"
#include "support/sanitizer.h"

using stackpack::Frame;
using stackpack::FrameMode;
using stackpack::Reader;
using stackpack::Sample;
using stackpack::StackOrigin;
using stackpack::Statistics;
using stackpack::Status;
using stackpack::StoredSample;
using stackpack::app::CaptureSpool;
using stackpack::app::SpkAssembler;
using stackpack::capture::CallstackSink;
using stackpack::capture::ModeRun;
using stackpack::capture::PendingStack;
using stackpack::capture::StackView;
using stackpack::test::CollectingSink;

namespace {

void add_random_samples(CallstackSink& sink, std::uint32_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  sink.add_event({"cpu-clock", true});
  sink.add_event({"faults", false});
  std::vector<PendingStack> pending_stacks;
  std::set<std::uint32_t> known;  // slots
  for (std::size_t i = 0; i < count; ++i) {
    Sample sample;
    sample.time_ns = 1'000'000 + 10 * i - random() % 200;
    sample.pid = static_cast<std::uint32_t>(random() % 3);
    sample.tid = sample.pid + static_cast<std::uint32_t>(random() % 2);
    sample.cpu = static_cast<std::uint32_t>(random() % 4);
    sample.event = static_cast<std::uint32_t>(random() % 2);
    sample.weight = sample.event == 0 ? random() % 1000 : 1;
    std::vector<std::uint64_t> addresses(1 + random() % 20);
    for (std::size_t k = 0; k < addresses.size(); ++k) {
      addresses[k] = 0x1000 * k + random() % 3;
    }
    const auto depth = static_cast<std::uint32_t>(addresses.size());
    const ModeRun user{FrameMode::kUser, depth};
    const ModeRun one{FrameMode::kKernel, 1};
    const StackView stack{addresses, {&user, 1}};
    const StackView ip{std::span(addresses).first(1), {&one, 1}};
    switch (random() % 10) {
      case 0:
        sample.origin = StackOrigin::kIpOnly;
        REQUIRE(sink.add_sample(sample, ip).has_value());
        break;
      case 1:
        sample.origin = StackOrigin::kNone;
        sample.flags = stackpack::kSampleEmptyChain;
        REQUIRE(sink.add_sample(sample, {}).has_value());
        break;
      case 2:
        pending_stacks.push_back(sink.open_pending());
        REQUIRE(sink.add_pending_sample(sample, pending_stacks.back(), ip).has_value());
        REQUIRE(sink.add_pending_sample(sample, pending_stacks.back(), {}).has_value());
        break;
      case 3:
        if (pending_stacks.size() > 1) {  // the first one is never resolved
          const StackView kept = random() % 3 == 0 ? StackView{} : stack;
          REQUIRE(sink.resolve_pending(pending_stacks.back(), kept).has_value());
          pending_stacks.pop_back();
        }
        break;
      case 4: {
        const auto slot = static_cast<std::uint32_t>(random() % 50);
        known.insert(slot);
        sample.origin = StackOrigin::kRecorded;
        REQUIRE(sink.add_sample(sample, stack, {slot, false}).has_value());
        break;
      }
      case 5:
        if (const auto found = known.find(static_cast<std::uint32_t>(random() % 50));
            found != known.end()) {
          sample.origin = StackOrigin::kRecorded;
          REQUIRE(sink.remembers_stacks());
          REQUIRE(sink.add_sample(sample, {}, {*found, true}).has_value());
        }
        break;
      default:
        sample.origin = StackOrigin::kRecorded;
        REQUIRE(sink.add_sample(sample, stack).has_value());
    }
  }
}

struct PackedFile {
  explicit PackedFile(std::uint64_t memory_limit = 0) {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "stackpack-assembler-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
    path = directory + "/out.spk";
    options.scratch_directory = directory;
    options.memory_limit = memory_limit;
  }
  ~PackedFile() { std::filesystem::remove_all(directory); }

  Statistics write(CaptureSpool& capture) const {
    auto out = stackpack::io::OutputFile::create(path);
    REQUIRE(out.has_value());
    SpkAssembler assembler(capture, {});
    const auto statistics = assembler.write(**out, {"perf", 1000, "fingerprint"});
    REQUIRE(statistics.has_value());
    REQUIRE((*out)->commit().has_value());
    return *statistics;
  }

  std::string directory;
  std::string path;
  CaptureSpool::Options options;
};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string text_of(const std::vector<Frame>& frames) {
  std::string line;
  for (const Frame& frame : frames) {
    const ModeRun run{frame.mode, 1};
    line += (line.empty() ? "" : " ") +
            stackpack::test::text_of(StackView{{&frame.address, 1}, {&run, 1}});
  }
  return line;
}

}  // namespace

TEST_CASE("spk assembler: what a source emits comes back from the file, in time order") {
  const std::uint32_t seed = 21;
  CAPTURE(seed);
  constexpr std::size_t kCount = 20'000;
  CollectingSink expected_sink;
  add_random_samples(expected_sink, seed, kCount);
  std::vector<CollectingSink::Row> expected = expected_sink.settled();
  std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) {
    return a.sample.time_ns < b.sample.time_ns;
  });

  const PackedFile file;
  CaptureSpool capture(file.options);
  add_random_samples(capture, seed, kCount);
  const Statistics statistics = file.write(capture);

  const auto reader = Reader::open(file.path);
  REQUIRE(reader.has_value());
  CHECK((*reader)->verify().has_value());
  std::size_t at = 0;
  std::vector<Frame> frames;
  const Status read = (*reader)->samples({}, [&](std::span<const StoredSample> block) {
    for (const StoredSample& sample : block) {
      REQUIRE(at < expected.size());
      REQUIRE(static_cast<const Sample&>(sample) == expected[at].sample);
      frames.clear();
      if (sample.stack != stackpack::kNoStack) {
        REQUIRE((*reader)->callstack(sample.stack, frames).has_value());
      }
      REQUIRE(text_of(frames) == expected[at].stack);
      ++at;
    }
    return true;
  });
  REQUIRE(read.has_value());
  CHECK(at == expected.size());

  std::uint64_t recorded = 0;
  std::uint64_t raw_frames = 0;
  std::map<std::string, std::uint64_t> unique;
  for (const CollectingSink::Row& row : expected) {
    if (row.sample.origin == StackOrigin::kRecorded) {
      ++recorded;
      const auto depth =
          static_cast<std::uint64_t>(1 + std::count(row.stack.begin(), row.stack.end(), ' '));
      raw_frames += depth;
      unique[row.stack] = depth;
    }
  }
  std::uint64_t unique_frames = 0;
  for (const auto& [stack, depth] : unique) {
    unique_frames += depth;
  }
  CHECK(statistics.samples.total == expected.size());
  CHECK(statistics.samples.recorded == recorded);
  CHECK(statistics.callstacks.raw_frames == raw_frames);
  CHECK(statistics.callstacks.unique == unique.size());
  CHECK(statistics.callstacks.unique_frames == unique_frames);
  CHECK(statistics.callstacks.max_depth == 20);
  CHECK(statistics.events.size() == 2);
  CHECK(statistics.events[0].samples + statistics.events[1].samples == expected.size());
}

TEST_CASE("spk assembler: a capture without samples is a file without stacks") {
  const PackedFile file;
  CaptureSpool capture(file.options);
  const Statistics statistics = file.write(capture);
  CHECK(statistics.samples.total == 0);
  const auto reader = Reader::open(file.path);
  REQUIRE(reader.has_value());
  CHECK((*reader)->stack_count() == 0);
  CHECK((*reader)->verify().has_value());
}

// Both files are the same, byte for byte, and sound.
void check_same_file(const std::string& path, const std::string& whole_path) {
  const auto reader = Reader::open(path);
  REQUIRE(reader.has_value());
  CHECK((*reader)->verify().has_value());
  CHECK(bytes_of(path) == bytes_of(whole_path));
}

TEST_CASE("capture spool: a callstack that is too deep is refused, whichever way it comes") {
  const PackedFile file;
  CaptureSpool spool(file.options);
  spool.add_event({"cpu-clock", true});
  const std::vector<std::uint64_t> addresses(std::size_t{1} << 16, 0x1000);
  const ModeRun run{FrameMode::kUser, static_cast<std::uint32_t>(addresses.size())};
  const StackView deep{addresses, {&run, 1}};
  Sample sample;
  sample.origin = StackOrigin::kRecorded;
  const PendingStack pending = spool.open_pending();
  for (const Status& status :
       {spool.add_sample(sample, deep), spool.add_pending_sample(sample, pending, deep),
        spool.resolve_pending(pending, deep)}) {
    REQUIRE_FALSE(status.has_value());
    CHECK(status.error().code == stackpack::ErrorCode::kUnsupported);
  }
}

TEST_CASE("spk assembler: records are counted apart from the samples that they gave") {
  const PackedFile file;
  CaptureSpool capture(file.options);
  capture.add_event({"leader", true});
  capture.add_event({"member", true});
  Sample sample;
  for (const int members : {0, 1, 2}) {
    sample.flags = 0;
    for (int i = 0; i <= members; ++i) {
      REQUIRE(capture.add_sample(sample, {}).has_value());
      sample.flags = stackpack::kSampleSameRecord;
    }
  }
  capture.losses().add(stackpack::capture::kRecordsWithoutCounts, stackpack::LossKind::kNotice, 4);
  const Statistics statistics = file.write(capture);
  CHECK(statistics.samples.total == 6);
  CHECK(statistics.samples.records == 3 + 4);
  const auto reader = Reader::open(file.path);
  REQUIRE(reader.has_value());
  CHECK((*reader)->verify().has_value());
}

TEST_CASE("spk assembler: segments do not show in the file") {
  const std::uint32_t seed = 77;
  CAPTURE(seed);
  constexpr std::size_t kCount = 30'000;
  const PackedFile whole_file;
  CaptureSpool whole(whole_file.options);
  add_random_samples(whole, seed, kCount);
  const Statistics expected = whole_file.write(whole);
  REQUIRE(expected.builder.segments == 1);

  for (const std::uint64_t builder_bytes : {4U << 20, 7U << 19, 3U << 20}) {
    CAPTURE(builder_bytes);
    PackedFile file(std::uint64_t{16} << 20);
    file.options.builder_bytes = builder_bytes;
    CaptureSpool capture(file.options);
    add_random_samples(capture, seed, kCount);
    const Statistics statistics = file.write(capture);
    CHECK(statistics.builder.segments > 1);
    CHECK(statistics.samples.total == expected.samples.total);
    CHECK(statistics.samples.recorded == expected.samples.recorded);
    CHECK(statistics.callstacks.raw_frames == expected.callstacks.raw_frames);
    CHECK(statistics.callstacks.unique == expected.callstacks.unique);
    CHECK(statistics.callstacks.unique_frames == expected.callstacks.unique_frames);
    CHECK(statistics.callstacks.unique_leaf_frames == expected.callstacks.unique_leaf_frames);
    CHECK(statistics.callstacks.max_depth == expected.callstacks.max_depth);
    CHECK(statistics.dag.nodes == expected.dag.nodes);

    check_same_file(file.path, whole_file.path);
  }
}

TEST_CASE(
    "spk assembler: distinct addresses without number do not show in the file, nor in its tables" *
    doctest::test_suite(stackpack::test::kNoThreadsOfItsOwn)) {
  // A million addresses, each once: indices and edges take more than such a limit has for them.
  const auto add = [](CaptureSpool& capture) {
    capture.add_event({"cpu-clock", false});
    std::mt19937_64 random(5);
    std::vector<std::uint64_t> addresses(40);
    const ModeRun user{FrameMode::kUser, 40};
    Sample sample;
    sample.origin = StackOrigin::kRecorded;
    for (int i = 0; i < 25'000; ++i) {
      for (std::uint64_t& address : addresses) {
        address = random() >> 20;
      }
      REQUIRE(capture.add_sample(sample, {addresses, {&user, 1}}).has_value());
    }
  };
  const PackedFile whole_file;
  CaptureSpool whole(whole_file.options);
  add(whole);
  const Statistics expected = whole_file.write(whole);
  PackedFile file(std::uint64_t{16} << 20);
  file.options.builder_bytes = 4U << 20;
  CaptureSpool capture(file.options);
  add(capture);
  const Statistics statistics = file.write(capture);
  CHECK(statistics.builder.segments > 4);
  CHECK(statistics.dag.distinct_frames == expected.dag.distinct_frames);
  CHECK(statistics.callstacks.unique_leaf_frames == expected.callstacks.unique_leaf_frames);
  check_same_file(file.path, whole_file.path);
}

TEST_CASE("spk assembler: a default bound shows in nothing") {
  constexpr std::size_t kCount = 30'000;
  const PackedFile free_file;
  CaptureSpool free(free_file.options);
  add_random_samples(free, 5, kCount);
  free_file.write(free);
  for (const std::uint64_t bound : {std::uint64_t{48} << 20, std::uint64_t{512} << 20}) {
    CAPTURE(bound);
    PackedFile file;
    file.options.default_bound = bound;
    CaptureSpool capture(file.options);
    add_random_samples(capture, 5, kCount);
    file.write(capture);
    CHECK(bytes_of(file.path) == bytes_of(free_file.path));
  }
  PackedFile file;
  file.options.default_bound = std::uint64_t{512} << 20;
  file.options.builder_bytes = std::uint64_t{55} << 19;  // with caches of their usual size
  CaptureSpool capture(file.options);
  add_random_samples(capture, 5, kCount);
  const Statistics statistics = file.write(capture);
  CHECK(statistics.builder.segments > 1);
  check_same_file(file.path, free_file.path);
}

TEST_CASE("spk assembler: system facts that do not fit the memory limit are counted in the file") {
  const auto counted = [](const Statistics& statistics) {
    for (const stackpack::LossCounter& loss : statistics.losses) {
      if (loss.name == "system_facts_over_memory_limit") {
        CHECK(loss.kind == stackpack::LossKind::kDamage);
        return loss.count;
      }
    }
    return std::uint64_t{0};
  };
  constexpr std::uint32_t kProcesses = 300;
  const std::string long_name(100'000, 'n');
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{16} << 20}) {
    CAPTURE(limit);
    const PackedFile file(limit);
    CaptureSpool capture(file.options);
    for (std::uint32_t pid = 1; pid <= kProcesses; ++pid) {
      capture.system().process_named(pid, 1, long_name + std::to_string(pid), false);
    }
    const Statistics statistics = file.write(capture);
    CHECK(counted(statistics) == kProcesses - statistics.processes);
    CHECK((statistics.processes < kProcesses) == (limit != 0));
  }
}

namespace {

// The length of the longest name of a function, and how many texts were cut.
std::pair<std::size_t, std::uint64_t> longest_name_of(std::size_t bytes) {
  const PackedFile file;
  const std::string input = file.directory + "/names.folded";
  std::ofstream(input) << "main;" << std::string(bytes, 'x') << " 1\nmain 2\n";
  const auto report = stackpack::convert(input, file.path, {}, nullptr);
  REQUIRE(report.has_value());
  const auto reader = Reader::open(file.path);
  REQUIRE(reader.has_value());
  CHECK((*reader)->verify().has_value());
  const auto names = (*reader)->names();
  REQUIRE(names.has_value());
  std::size_t longest = 0;
  for (const stackpack::Function& function : names->functions) {
    longest = std::max(longest, names->texts[function.name].size());
  }
  std::uint64_t cut = 0;
  for (const stackpack::LossCounter& loss : (*reader)->statistics().losses) {
    cut += loss.name == "texts_cut" ? loss.count : 0;
  }
  return {longest, cut};
}

}  // namespace

TEST_CASE("spk assembler: a name is cut at the limit of a file, and that is counted") {
  constexpr std::size_t kMost = 65'536;
  CHECK(longest_name_of(kMost) == std::pair<std::size_t, std::uint64_t>(kMost, 0));
  CHECK(longest_name_of(kMost + 1) == std::pair<std::size_t, std::uint64_t>(kMost, 1));
}
