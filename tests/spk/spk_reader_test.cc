#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "spk/format/layout.h"
#include "spk/read/block_reader.h"
#include "spk/read/file_opener.h"
#include "stackpack/reader.h"
#include "support/spk_reading.h"

namespace stackpack::test {
namespace {

/// Counts what is read of a memory file.
class CountingSource final : public io::ByteSource {
 public:
  CountingSource(std::span<const std::byte> bytes, std::size_t& reads, std::size_t& total)
      : source_(io::source_of_memory(bytes)), reads_(reads), total_(total) {}
  Result<std::size_t> read(std::span<std::byte> into) override { return source_->read(into); }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    ++reads_;
    total_ += into.size();
    return source_->read_at(offset, into);
  }
  [[nodiscard]] bool seekable() const override { return true; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return source_->size(); }

 private:
  std::unique_ptr<io::ByteSource> source_;
  std::size_t& reads_;
  std::size_t& total_;
};

std::vector<StoredSample> filtered(const std::vector<StoredSample>& samples,
                                   const SampleQuery& query) {
  std::vector<StoredSample> result;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(result),
               [&query](const StoredSample& s) {
                 return s.time_ns >= query.from_ns && s.time_ns <= query.to_ns &&
                        (!query.pid || *query.pid == s.pid) && (!query.tid || *query.tid == s.tid);
               });
  return result;
}

std::vector<StoredSample> in_some_order(std::vector<StoredSample> samples) {
  const auto key = [](const StoredSample& s) {
    return std::tie(s.time_ns, s.pid, s.tid, s.cpu, s.event, s.stack, s.weight, s.origin, s.flags);
  };
  std::sort(samples.begin(), samples.end(),
            [&](const StoredSample& a, const StoredSample& b) { return key(a) < key(b); });
  return samples;
}

SpkContent content_with_tables() {
  SpkContent content = random_content(31, 50, 300);
  content.events.push_back({"Provider/äö \xF0\x9F\x94\xA5", false});
  content.tables.processes = {
      {1, kUnknownId, kUnknownTime, kUnknownTime, false, "init", ""},
      {7, 1, 0, 1, true, "sh", std::string("sh\0-c", 5)},
      {kUnknownId, kUnknownId, ~std::uint64_t{0} - 1, ~std::uint64_t{0} - 1, false, "",
       std::string(70'000, 'x')},
  };
  for (std::uint32_t i = 0; i < 5'000; ++i) {  // more than one block
    content.tables.threads.push_back({i / 3, i, i, kUnknownTime, "thread " + std::to_string(i)});
  }
  content.tables.modules = {
      {7, 0, ~std::uint64_t{0}, 1, 5, 6, "a.dll", BuildIdKind::kPdb,
       std::vector<std::uint8_t>(20, 9), "a.pdb"},
      {7, 0x1000, 0, 0, 5, 6, "", BuildIdKind::kNone, {}, ""},
      {kKernelPid,
       ~std::uint64_t{0} - 4'095,
       4'096,
       0,
       kUnknownTime,
       kUnknownTime,
       "[kernel]",
       BuildIdKind::kGnu,
       {1, 2, 0, 255},
       ""},
  };
  content.tables.metadata = {{"", ""}, {"host", "name"}, {"long", std::string(3'000'000, 'y')}};
  content.losses = {{"recorder_lost_events", LossKind::kRecorder, 5, ~std::uint64_t{0}},
                    {"zero", LossKind::kNotice, 0, 0}};
  content.fingerprint = "a fingerprint";
  return content;
}

TEST_SUITE("spk reader") {
  TEST_CASE("spk reader: tables, losses and fingerprint come back") {
    const SpkContent content = content_with_tables();
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    CHECK(reader->events().value() == content.events);
    CHECK(reader->processes().value() == content.tables.processes);
    CHECK(reader->threads().value() == content.tables.threads);
    CHECK(reader->modules().value() == content.tables.modules);
    CHECK(reader->metadata().value() == content.tables.metadata);
    CHECK(reader->statistics().losses == content.losses);
    CHECK(reader->fingerprint() == "a fingerprint");
    CHECK(failure(reader->verify()).empty());
  }

  TEST_CASE("spk reader: statistics come back, and what the writer adds is right") {
    const SpkContent content = content_with_tables();
    const ScratchDirectory directory;
    const std::string path = directory.file("file.spk");
    const Result<Statistics> written = write_spk(content, {}, path);
    REQUIRE(written.has_value());
    const auto reader = Reader::open(path);
    REQUIRE(reader.has_value());
    const Statistics& read = reader.value()->statistics();
    CHECK(read.source_kind == written->source_kind);
    CHECK(read.samples.total == content.samples.size());
    CHECK(read.samples.recorded == written->samples.recorded);
    CHECK(read.callstacks.raw_frames == written->callstacks.raw_frames);
    CHECK(read.callstacks.stored == content.stacks.size());
    CHECK(read.dag.nodes == frozen_dag_of(content.stacks).node_count());
    CHECK(read.dag.stored_bytes == written->dag.stored_bytes);
    CHECK(read.dag.stored_bytes < reader.value()->file_bytes());
    CHECK(read.sample_stream_bytes == written->sample_stream_bytes);
    CHECK(read.threads == 5'000);
    CHECK(read.events.at(1).samples == written->events.at(1).samples);
  }

  TEST_CASE("spk reader: a text too long for a block is refused by the writer") {
    SpkContent content;
    content.tables.metadata = {{"key", std::string(std::size_t{17} << 20, 'z')}};
    const ScratchDirectory directory;
    CHECK(write_spk(content, {}, directory.file("x")).error().code == ErrorCode::kLimit);
  }

  TEST_CASE("spk reader: samples by time, process and thread") {
    const SpkContent content = random_content(32, 200, 150'000);
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    const std::uint64_t first = content.samples.front().time_ns;
    const std::uint64_t last = content.samples.back().time_ns;
    const std::uint64_t middle = content.samples[70'000].time_ns;
    const std::vector<SampleQuery> queries{
        {},
        {first, first, {}, {}},
        {last, last, {}, {}},
        {0, first - 1, {}, {}},
        {last + 1, ~std::uint64_t{0}, {}, {}},
        {middle, middle + 1'000'000, {}, {}},
        {middle, middle - 1, {}, {}},
        {0, ~std::uint64_t{0}, 15, {}},
        {0, ~std::uint64_t{0}, {}, 105},
        {first + 1, last - 1, 15, 105},
        {0, ~std::uint64_t{0}, 15, 1},
    };
    for (std::size_t i = 0; i < queries.size(); ++i) {
      CAPTURE(i);
      const std::vector<StoredSample> expected = filtered(content.samples, queries[i]);
      CHECK(samples_in(*reader, queries[i]) == expected);
      SampleQuery sums = queries[i];
      sums.any_order = true;
      CHECK(in_some_order(samples_in(*reader, sums).value()) == in_some_order(expected));
    }
    std::size_t visited = 0;
    REQUIRE(reader->samples({}, [&visited](auto samples) {
      visited += samples.size();
      return false;
    }));
    CHECK(visited == spk::kSamplesPerBlock);
  }

  TEST_CASE("spk reader: opening takes two reads, a time range or a thread reads its blocks only") {
    SpkContent content = random_content(33, 9'000, 200'000);
    for (std::size_t i = 0; i < content.samples.size(); ++i) {
      content.samples[i].weight = i * 0x9E3779B97F4A7C15;  // blocks of half a megabyte
      content.samples[i].tid = static_cast<std::uint32_t>(i / spk::kSamplesPerBlock);
    }
    const std::vector<std::byte> file = spk_bytes(content);
    std::size_t reads = 0;
    std::size_t total = 0;
    spk::BlockReader blocks(std::make_unique<CountingSource>(file, reads, total));
    spk::OpenedFile opened;
    REQUIRE(spk::open_file(blocks, opened));
    CHECK(reads == 2);
    CHECK(total < 70'000);

    // Damage all blocks of samples but the second: a query that stays in it does not notice.
    std::vector<std::byte> damaged = file;
    const auto* const section = opened.directory.find(spk::SectionKind::kSamples);
    const auto at = static_cast<std::size_t>(section->offset + section->stored_bytes - 1'000);
    damaged[at] ^= std::byte{1};
    const auto reader = open_spk(damaged);
    CHECK_FALSE(samples_in(*reader).has_value());
    const std::uint64_t end = content.samples[2 * spk::kSamplesPerBlock].time_ns - 1;
    CHECK(samples_in(*reader, {0, end, {}, {}}) == filtered(content.samples, {0, end, {}, {}}));
    SampleQuery thread;
    thread.tid = 1;
    CHECK(samples_in(*reader, thread) == filtered(content.samples, thread));
  }

  TEST_CASE("spk reader: many callstacks at once, in any order, repeated") {
    const SpkContent content = random_content(34, 8'000, 0);
    const std::vector<RootFirstStack> stacks = list_of(content.stacks);
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file, {1});
    Random random(1);
    std::vector<StackId> ids;
    for (int i = 0; i < 20'000; ++i) {
      ids.push_back(static_cast<StackId>(random.below(stacks.size())));
    }
    std::vector<bool> seen(ids.size());
    std::size_t wrong = 0;
    REQUIRE(reader->callstacks(ids, [&](std::size_t at, std::span<const Frame> frames) {
      seen[at] = true;
      wrong += RootFirstStack(frames.rbegin(), frames.rend()) == stacks[ids[at]] ? 0U : 1U;
      return true;
    }));
    CHECK(wrong == 0);
    CHECK(std::find(seen.begin(), seen.end(), false) == seen.end());
    CHECK(reader->cache().misses == reader->statistics().dag.pages);  // each page once
    std::size_t visits = 0;
    REQUIRE(reader->callstacks(ids,
                               [&](std::size_t, std::span<const Frame>) { return ++visits < 10; }));
    CHECK(visits == 10);
    ids.push_back(static_cast<StackId>(stacks.size()));
    CHECK(reader->callstacks(ids, [](std::size_t, std::span<const Frame>) { return true; })
              .error()
              .code == ErrorCode::kUsage);
  }

  TEST_CASE("spk reader: the cache keeps to its budget and evicts what was not used") {
    const SpkContent content = random_content(35, 9'000, 0);
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file, {30'000});
    REQUIRE(reader->statistics().dag.pages >= 4);
    std::vector<Frame> frames;
    REQUIRE(reader->callstack(0, frames));
    CHECK(reader->cache().bytes == 0);  // nothing says yet that the page is worth keeping
    REQUIRE(reader->callstack(1, frames));
    CHECK(reader->cache().bytes > 0);
    const StackId last = reader->stack_count() - 1;
    for (StackId id = 0; id <= last; id += 16) {
      REQUIRE(reader->callstack(id, frames));
      REQUIRE(reader->callstack(0, frames));  // stays in use
      CHECK(reader->cache().bytes <= 30'000);
    }
    CHECK(reader->cache().misses <= 2 * reader->statistics().dag.pages);
  }

  TEST_CASE("spk reader: from a path, a descriptor and memory") {
    const SpkContent content = random_content(36, 100, 100);
    const ScratchDirectory directory;
    const std::string path = directory.file("file.spk");
    REQUIRE(write_spk(content, {}, path));
    const auto by_path = Reader::open(path);
    REQUIRE(by_path.has_value());
    CHECK(stacks_in(*by_path.value()) == list_of(content.stacks));
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    {
      const auto by_descriptor = Reader::open_descriptor(descriptor);
      REQUIRE(by_descriptor.has_value());
      CHECK(samples_in(*by_descriptor.value()) == content.samples);
    }
    CHECK(::close(descriptor) == 0);  // still the caller's
  }
}

}  // namespace
}  // namespace stackpack::test
