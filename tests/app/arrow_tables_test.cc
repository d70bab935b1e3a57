#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/analysis/hot_spots.h"
#include "stackpack/arrow.h"
#include "stackpack/names.h"
#include "support/arrow_reading.h"
#include "support/spk_reading.h"

namespace stackpack::test {
namespace {

std::shared_ptr<const ArrowTables> tables_of(const std::vector<std::byte>& file) {
  return ArrowTables::of(std::shared_ptr<const Reader>(open_spk(file)));
}

ArrowContent read_table(const ArrowTables& tables, ArrowTable table,
                        const ArrowOptions& options = {}) {
  OwnedStream out;
  const Status made = tables.stream(table, options, &out.stream);
  REQUIRE_MESSAGE(made.has_value(), failure(made));
  return read_arrow(out.stream);
}

// Two processes of the same code at different addresses, and times in which an image is another.
SpkContent placed_content(std::size_t samples) {
  SpkContent content = random_content(61, 300, samples);
  for (std::uint32_t pid = 14; pid < 17; ++pid) {
    content.tables.processes.push_back({pid, 1, kUnknownTime, kUnknownTime, false, "p", ""});
    for (std::uint64_t half = 0; half < 2; ++half) {
      Module module;
      module.pid = pid;
      module.base = 0;
      module.size = std::uint64_t{1} << 63;
      module.start_ns = half == 0 ? kUnknownTime : 1'000'050'000'000;
      module.end_ns = half == 0 ? 1'000'049'999'999 : kUnknownTime;
      module.path = half == 0 ? "/lib/old.so" : "/lib/new.so";
      content.tables.modules.push_back(module);
    }
  }
  return content;
}

// The callstack with a number, leaf first, as names of frames.
std::vector<std::string> names_of(const ArrowContent& nodes, const ArrowContent& frames,
                                  const std::map<std::string, std::size_t>& row_of,
                                  std::string node) {
  std::vector<std::string> names;
  while (node != "null") {
    const std::size_t row = row_of.at(node);
    names.push_back(frames.at("mode", std::stoul(nodes.at("frame", row))) + " " +
                    frames.at("address", std::stoul(nodes.at("frame", row))));
    node = nodes.at("parent", row);
  }
  return names;
}

std::map<std::string, std::size_t> rows_by_id(const ArrowContent& table) {
  std::map<std::string, std::size_t> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    CHECK(rows.emplace(table.at("id", row), row).second);
  }
  return rows;
}

TEST_SUITE("arrow tables") {
  TEST_CASE("arrow tables: samples are those of the reader") {
    SpkContent content = placed_content(70'000);
    for (std::size_t i = 0; i < content.samples.size(); i += 3) {
      StoredSample& sample = content.samples[i];
      (i % 2 == 0 ? sample.cpu : i % 9 == 0 ? sample.pid : sample.tid) = kUnknownId;
    }
    const std::vector<std::byte> file = spk_bytes(content);
    const auto tables = tables_of(file);
    const ArrowContent samples = read_table(*tables, ArrowTable::kSamples);
    CHECK(samples.error.empty());
    REQUIRE(samples.rows() == content.samples.size());
    CHECK(samples.batches == std::vector<std::int64_t>{65'536, 70'000 - 65'536});
    const auto number = [](std::uint64_t value) {
      return value == kUnknownId ? "null" : std::to_string(value);
    };
    std::set<std::string> unknown;
    for (std::size_t i = 0; i < samples.rows(); i += 7) {
      const StoredSample& expected = content.samples[i];
      for (const char* const column : {"pid", "tid", "cpu"}) {
        if (samples.at(column, i) == "null") {
          unknown.insert(column);
        }
      }
      REQUIRE(samples.at("time_ns", i) == number(expected.time_ns));
      REQUIRE(samples.at("pid", i) == number(expected.pid));
      REQUIRE(samples.at("tid", i) == number(expected.tid));
      REQUIRE(samples.at("cpu", i) == number(expected.cpu));
      REQUIRE(samples.at("event", i) == content.events[expected.event].name);
      REQUIRE(samples.at("weight", i) == number(expected.weight));
      REQUIRE(samples.at("flags", i) == number(expected.flags));
      REQUIRE(samples.at("source", i) == "0");
      REQUIRE(samples.at("origin", i) ==
              (expected.origin == StackOrigin::kRecorded ? "recorded" : "none"));
      const bool none = expected.stack == kNoStack;
      REQUIRE(samples.at("stack", i) == (none ? "null" : number(expected.stack)));
      REQUIRE((samples.at("callstack", i) == "null") == none);
    }
    CHECK(unknown.size() == 3);
  }

  TEST_CASE("arrow tables: each block of samples has its own callstacks") {
    // Looked up by the block's entries, and, where an image changes within a block, sample by
    // sample.
    for (const SpkContent& content : {random_content(62, 300, 150'000), placed_content(150'000)}) {
      const std::vector<std::byte> file = spk_bytes(content);
      const auto tables = tables_of(file);
      const ArrowContent nodes = read_table(*tables, ArrowTable::kCallstacks);
      const ArrowContent samples = read_table(*tables, ArrowTable::kSamples);
      REQUIRE(samples.rows() == content.samples.size());
      CHECK(samples.batches.size() == 3);
      std::size_t wrong = 0;
      const auto row_of = rows_by_id(nodes);
      for (std::size_t i = 0; i < samples.rows(); i += 11) {
        const std::string node = samples.at("callstack", i);
        const StackId stack = content.samples[i].stack;
        wrong += node == "null" ? stack != kNoStack
                                : nodes.at("stack", row_of.at(node)) != std::to_string(stack);
      }
      CHECK(wrong == 0);
    }
  }

  TEST_CASE("arrow tables: the tree of callstacks has those of the samples") {
    const SpkContent content = placed_content(3'000);
    const std::vector<RootFirstStack> stacks(content.stacks.begin(), content.stacks.end());
    const std::vector<std::byte> file = spk_bytes(content);
    const auto tables = tables_of(file);
    ArrowOptions small;
    small.batch_rows = 100;
    const ArrowContent nodes = read_table(*tables, ArrowTable::kCallstacks, small);
    const ArrowContent frames = read_table(*tables, ArrowTable::kFrames, small);
    const ArrowContent samples = read_table(*tables, ArrowTable::kSamples);
    REQUIRE(nodes.error.empty());
    CHECK(*std::max_element(nodes.batches.begin(), nodes.batches.end()) == 100);
    const auto row_of = rows_by_id(nodes);
    std::set<std::string> ends;
    for (std::size_t i = 0; i < samples.rows(); ++i) {
      const StoredSample& sample = content.samples[i];
      if (sample.stack == kNoStack) {
        continue;
      }
      const std::string node = samples.at("callstack", i);
      ends.insert(node);
      CHECK(nodes.at("stack", row_of.at(node)) == std::to_string(sample.stack));
      std::vector<std::string> expected;
      const RootFirstStack& stack = stacks[sample.stack];
      for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
        const bool kernel = frame->mode == FrameMode::kKernel;
        expected.push_back(std::string(kernel                            ? "kernel"
                                       : frame->mode == FrameMode::kUser ? "user"
                                                                         : "unknown") +
                           " " + std::to_string(frame->address));
      }
      REQUIRE(names_of(nodes, frames, row_of, node).size() == expected.size());
      const bool plain = std::all_of(stack.begin(), stack.end(), [](const Frame& frame) {
        return frame.mode == FrameMode::kKernel || frame.mode == FrameMode::kUser;
      });
      if (plain) {
        REQUIRE(names_of(nodes, frames, row_of, node) == expected);
      }
    }
    // Ends are numbered without a gap, and nothing else has a stack.
    CHECK(std::stoul(*ends.rbegin()) < ends.size());
    const auto& column = nodes.columns.at("stack");
    CHECK(std::count_if(column.begin(), column.end(), [](const Cell& cell) {
            return cell.has_value();
          }) == static_cast<std::ptrdiff_t>(ends.size()));
    // The image of a user frame changes in the middle of the capture.
    std::set<std::string> images;
    for (std::size_t row = 0; row < frames.rows(); ++row) {
      images.insert(frames.at("image", row));
    }
    CHECK(images.contains("old.so"));
    CHECK(images.contains("new.so"));
  }

  TEST_CASE("arrow tables: sums over frames are those of top") {
    const SpkContent content = placed_content(5'000);
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    const auto tables = tables_of(file);
    const ArrowContent nodes = read_table(*tables, ArrowTable::kCallstacks);
    const ArrowContent frames = read_table(*tables, ArrowTable::kFrames);
    const ArrowContent samples = read_table(*tables, ArrowTable::kSamples);
    const auto row_of = rows_by_id(nodes);
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> sums;
    for (std::size_t i = 0; i < samples.rows(); ++i) {
      std::string node = samples.at("callstack", i);
      if (samples.at("event", i) != "cpu-clock" || node == "null") {
        continue;
      }
      std::set<std::string> names;
      for (bool leaf = true; node != "null"; leaf = false) {
        const std::size_t row = row_of.at(node);
        const std::size_t frame = std::stoul(nodes.at("frame", row));
        const std::string name = frames.at("name", frame) + "/" + frames.at("image", frame);
        sums[name].first += leaf ? 1U : 0U;
        sums[name].second += names.insert(name).second ? 1U : 0U;
        node = nodes.at("parent", row);
      }
    }
    ArrowOptions options;
    options.event = "cpu-clock";
    options.count = CountBy::kSamples;
    options.idle = IdleSamples::kKeep;
    const ArrowContent top = read_table(*tables, ArrowTable::kTop, options);
    REQUIRE(top.rows() == sums.size());
    for (std::size_t row = 0; row < top.rows(); ++row) {
      const auto& sum = sums.at(top.at("name", row) + "/" + top.at("module", row));
      CHECK(top.at("self", row) == std::to_string(sum.first));
      CHECK(top.at("total", row) == std::to_string(sum.second));
    }
    app::HotSpotQuery query;
    query.filters.filter.events = {"cpu-clock"};
    query.filters.count = CountBy::kSamples;
    query.filters.filter.idle = IdleSamples::kKeep;
    const auto spots = app::hot_spots(*reader, query);
    REQUIRE(spots.has_value());
    CHECK(spots->rows.size() == top.rows());
    CHECK(top.at("value", 0) == std::to_string(spots->value));
  }

  TEST_CASE("arrow tables: counts add the samples up, of files with and without samples") {
    const SpkContent content = placed_content(3'000);
    for (const bool with_samples : {true, false}) {
      spk::WriterOptions options;
      options.samples = with_samples;
      const std::vector<std::byte> file = spk_bytes(content, options);
      const auto tables = tables_of(file);
      const ArrowContent counts = read_table(*tables, ArrowTable::kCounts);
      std::uint64_t samples = 0;
      for (std::size_t row = 0; row < counts.rows(); ++row) {
        samples += std::stoull(counts.at("samples", row));
      }
      CHECK(samples == content.samples.size());
      if (!with_samples) {
        OwnedStream out;
        CHECK(tables->stream(ArrowTable::kSamples, {}, &out.stream).error().code ==
              ErrorCode::kUsage);
        const ArrowContent nodes = read_table(*tables, ArrowTable::kCallstacks);
        const auto row_of = rows_by_id(nodes);
        for (std::size_t row = 0; row < counts.rows(); ++row) {
          const std::string callstack = counts.at("callstack", row);
          CHECK((callstack == "null" || row_of.contains(callstack)));
        }
      }
    }
  }

  TEST_CASE("arrow tables: columns and times asked for") {
    const SpkContent content = placed_content(70'000);
    const std::vector<std::byte> file = spk_bytes(content);
    const auto tables = tables_of(file);
    ArrowOptions options;
    options.columns = {"tid", "time_ns"};
    options.from_ns = content.samples[1'000].time_ns;
    options.to_ns = content.samples[1'500].time_ns;
    const ArrowContent some = read_table(*tables, ArrowTable::kSamples, options);
    CHECK(some.names == std::vector<std::string>{"tid", "time_ns"});
    const auto expected =
        std::count_if(content.samples.begin(), content.samples.end(), [&](const StoredSample& s) {
          return s.time_ns >= options.from_ns && s.time_ns <= options.to_ns;
        });
    CHECK(static_cast<std::ptrdiff_t>(some.rows()) == expected);

    options = {};
    options.columns = {"nonsense"};
    OwnedStream out;
    CHECK(tables->stream(ArrowTable::kSamples, options, &out.stream).error().code ==
          ErrorCode::kUsage);
    CHECK((out.stream.release == nullptr));
    options = {};
    options.batch_rows = 0;
    CHECK(tables->stream(ArrowTable::kSamples, options, &out.stream).error().code ==
          ErrorCode::kUsage);
    options = {};
    options.by = "nonsense";
    CHECK(tables->stream(ArrowTable::kTop, options, &out.stream).error().code == ErrorCode::kUsage);
  }

  TEST_CASE("arrow tables: a consumer may leave at any time, and outlive the tables") {
    const std::vector<std::byte> file = spk_bytes(placed_content(3'000));
    ArrowOptions options;
    options.batch_rows = 50;
    for (const ArrowTable table : {ArrowTable::kSamples, ArrowTable::kCallstacks,
                                   ArrowTable::kFrames, ArrowTable::kCounts}) {
      ArrowArray batch{};
      {
        OwnedStream out;
        {
          const auto tables = tables_of(file);
          REQUIRE(tables->stream(table, options, &out.stream).has_value());
        }
        REQUIRE(out.stream.get_next(&out.stream, &batch) == 0);
        REQUIRE((batch.release != nullptr));
      }
      CHECK(batch.length == 50);
      batch.release(&batch);
    }
  }

  TEST_CASE("arrow tables: damage comes as an error of the stream, with its place") {
    std::vector<std::byte> file = spk_bytes(placed_content(70'000));
    for (std::size_t at = file.size() / 3; at < file.size() * 2 / 3; at += 101) {
      file[at] ^= std::byte{0x5A};
    }
    auto reader = Reader::open_memory(file);
    REQUIRE(reader.has_value());
    const auto tables = ArrowTables::of(std::shared_ptr<const Reader>(std::move(*reader)));
    const ArrowContent samples = read_table(*tables, ArrowTable::kSamples);
    const ArrowContent nodes = read_table(*tables, ArrowTable::kCallstacks);
    CHECK(samples.error.starts_with("offset "));
    CHECK(nodes.error.starts_with("offset "));
  }

  TEST_CASE("arrow tables: every table has its columns, and the system's rows") {
    SpkContent content = placed_content(1'000);
    content.tables.metadata = {{"clock.wall_offset_ns", "-5"}, {"host.name", "here"}};
    content.losses = {{"lost", LossKind::kRecorder, 3, 17}, {"odd", LossKind::kNotice, 1}};
    const std::vector<std::byte> file = spk_bytes(content);
    const auto tables = tables_of(file);
    for (unsigned table = 0; table < kArrowTableCount; ++table) {
      const ArrowContent all = read_table(*tables, static_cast<ArrowTable>(table));
      CHECK(all.error.empty());
      CHECK(!all.names.empty());
      CHECK(arrow_table_of(arrow_table_names()[table]) == static_cast<ArrowTable>(table));
    }
    CHECK(!arrow_table_of("nothing"));
    const ArrowContent losses = read_table(*tables, ArrowTable::kLosses);
    REQUIRE(losses.rows() == 2);
    CHECK(losses.at("kind", 0) == "recorder");
    CHECK(losses.at("first_offset", 0) == "17");
    CHECK(losses.at("first_offset", 1) == "null");
    const ArrowContent sources = read_table(*tables, ArrowTable::kSources);
    REQUIRE(sources.rows() == 1);
    CHECK(sources.at("host", 0) == "here");
    CHECK(sources.at("wall_offset_ns", 0) == "-5");
    CHECK(sources.at("samples", 0) == "1000");
    CHECK(sources.at("start_ns", 0) == std::to_string(content.samples.front().time_ns - 5));
    const ArrowContent processes = read_table(*tables, ArrowTable::kProcesses);
    CHECK(processes.rows() == 3);
    CHECK(processes.at("recorded_pid", 0) == "14");
    const ArrowContent modules = read_table(*tables, ArrowTable::kModules);
    CHECK(modules.rows() == 6);
    const ArrowContent events = read_table(*tables, ArrowTable::kEvents);
    CHECK(events.at("name", 1) == "sched:sched_switch");
  }
}

}  // namespace
}  // namespace stackpack::test
