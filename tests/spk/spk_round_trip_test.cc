// Stacks and samples -> .spk -> the same stacks and samples.

#include <set>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "spk/read/dag_store.h"
#include "spk/read/file_opener.h"
#include "support/sanitizer.h"
#include "support/spk_reading.h"

namespace stackpack::test {
namespace {

void check_round_trip(const SpkContent& content) {
  const std::vector<std::byte> file = spk_bytes(content);
  const auto reader = open_spk(file);
  REQUIRE(stacks_in(*reader) == list_of(content.stacks));
  REQUIRE(samples_in(*reader) == content.samples);
  CHECK(failure(reader->verify()).empty());
}

Frame user_frame(std::uint64_t address) {
  return {FrameMode::kUser, address};
}

TEST_SUITE("spk") {
  TEST_CASE("spk: stacks and samples come back as they were written") {
    const std::uint64_t seed = 20'240'601;
    CAPTURE(seed);
    check_round_trip(random_content(seed, 9'000, 70'000));
  }

  TEST_CASE("spk: a cache of one byte, of one page and of all pages read the same") {
    const SpkContent content = random_content(5, 6'000, 0);
    const std::vector<RootFirstStack> stacks = list_of(content.stacks);
    const std::vector<std::byte> file = spk_bytes(content);
    for (const std::uint64_t budget : {1U, 16'000U, 1U << 20}) {
      CAPTURE(budget);
      const auto reader = open_spk(file, {budget});
      std::vector<Frame> frames;
      for (std::size_t i = 0; i < 600; ++i) {
        const std::size_t id = i * 7'919 % stacks.size();  // page after page
        REQUIRE(reader->callstack(static_cast<StackId>(id), frames));
        REQUIRE(RootFirstStack(frames.rbegin(), frames.rend()) == stacks[id]);
      }
    }
  }

  TEST_CASE("spk: a file without stacks and samples is a file") {
    const std::vector<std::byte> file = spk_bytes({});
    const auto reader = open_spk(file);
    CHECK(reader->stack_count() == 0);
    CHECK(samples_in(*reader)->empty());
    std::vector<Frame> frames;
    CHECK(reader->callstack(0, frames).error().code == ErrorCode::kUsage);
    CHECK(failure(reader->verify()).empty());
  }

  // A fan is one parent with many children: every node a stack. Exact widths are at the numbers of
  // frames, children and nodes just below and above powers of two and page ends.
  TEST_CASE("spk: fans of every critical width" * doctest::test_suite(test::kNoThreadsOfItsOwn)) {
    for (const std::uint64_t children :
         {1U, 2U, 61U, 62U, 63U, 64U, 65U, 255U, 256U, 257U, 4'094U, 4'095U, 4'096U, 8'191U, 8'192U,
          65'534U, 65'535U, 65'536U, 65'537U}) {
      CAPTURE(children);
      SpkContent content;
      for (std::uint64_t i = 0; i < children; ++i) {
        content.stacks.insert({user_frame(1), user_frame(2 + i)});
      }
      check_round_trip(content);
    }
  }

  TEST_CASE("spk: chains of every critical depth") {
    for (const std::size_t depth :
         {1U, 2U, 255U, 256U, 257U, 4'095U, 4'096U, 4'097U, 65'534U, 65'535U}) {
      CAPTURE(depth);
      SpkContent content;
      RootFirstStack stack(depth, user_frame(7));
      content.stacks.insert(stack);
      stack.back() = user_frame(8);
      content.stacks.insert(stack);
      check_round_trip(content);
    }
  }

  TEST_CASE("spk: nodes in numbers around one and two pages" *
            doctest::test_suite(test::kNoThreadsOfItsOwn)) {
    for (const std::size_t nodes : {4'095U, 4'096U, 4'097U, 8'191U, 8'192U, 8'193U}) {
      CAPTURE(nodes);
      SpkContent content;
      // Combs: a spine of 64 with a leaf at each level, so that pages begin deep inside.
      RootFirstStack spine;
      std::size_t made = 0;
      for (std::uint64_t i = 0; made < nodes; ++i, ++made) {
        if (i % 64 == 0) {
          spine.clear();
        }
        spine.push_back(user_frame(100 + i / 64));
        content.stacks.insert(spine);
      }
      check_round_trip(content);
      CHECK(open_spk(spk_bytes(content))->statistics().dag.nodes == nodes);
    }
  }

  TEST_CASE("spk: stacks that are the beginning of others end where they end" *
            doctest::test_suite(test::kNoThreadsOfItsOwn)) {
    SpkContent content;
    RootFirstStack stack;
    for (std::uint64_t i = 0; i < 9'000; ++i) {
      stack.resize(stack.size() - (i % 50 == 49 ? 45 : 0), user_frame(0));
      stack.push_back(user_frame(i));
      if (i % 3 != 0) {
        content.stacks.insert(stack);
      }
    }
    check_round_trip(content);
  }

  TEST_CASE("spk: every mode and the whole range of addresses") {
    SpkContent content;
    for (unsigned mode = 0; mode < kFrameModeCount; ++mode) {
      for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0},
                                          ~std::uint64_t{0} - 1, std::uint64_t{1} << 63}) {
        content.stacks.insert({{static_cast<FrameMode>(mode), address}});
        content.stacks.insert({user_frame(5), {static_cast<FrameMode>(mode), address}});
      }
    }
    check_round_trip(content);
  }

  TEST_CASE("spk: the sections add up to the file") {
    const std::vector<std::byte> file = spk_bytes(random_content(7, 500, 2'000));
    const auto reader = open_spk(file);
    std::uint64_t sum = 0;
    for (const SectionInfo& section : reader->sections()) {
      sum += section.stored_bytes;
    }
    CHECK(sum == file.size());
    CHECK(reader->file_bytes() == file.size());
  }

  TEST_CASE("spk: resident bytes are those of a cache that holds every page, and of the tables") {
    const SpkContent content = random_content(11, 9'000, 10);
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    const Result<std::uint64_t> bytes = reader->resident_bytes();
    REQUIRE(bytes.has_value());
    CHECK(reader->cache().bytes == 0);  // nothing was kept
    std::vector<Frame> frames;
    for (StackId id = 0; id < reader->stack_count(); ++id) {
      REQUIRE(reader->callstack(id, frames).has_value());
    }
    spk::BlockReader blocks(io::source_of_memory(file));
    spk::OpenedFile opened;
    REQUIRE(spk::open_file(blocks, opened));
    spk::DagStore dag(blocks, opened.directory, spk::kCallstackSections, 0);
    REQUIRE(dag.load());
    CHECK(*bytes ==
          reader->cache().bytes + dag.dictionary().memory_bytes() + dag.edges().memory_bytes());
  }

  TEST_CASE("spk: eight threads share a cache of one page") {
    const SpkContent content = random_content(13, 3'000, 0);
    const std::vector<RootFirstStack> expected = list_of(content.stacks);
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file, {12'000});
    std::vector<std::uint64_t> wrong(8);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t) {
      threads.emplace_back([&, t] {
        Random random(t);
        std::vector<Frame> frames;
        for (int i = 0; i < 100; ++i) {
          const auto id = static_cast<StackId>(random.below(expected.size()));
          const bool read = reader->callstack(id, frames).has_value();
          const RootFirstStack stack(frames.rbegin(), frames.rend());
          wrong[t] += read && stack == expected[id] ? 0U : 1U;
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    CHECK(wrong == std::vector<std::uint64_t>(8));
    CHECK(reader->cache().bytes <= 12'000);
    CHECK(reader->cache().hits > 0);
  }
}

}  // namespace
}  // namespace stackpack::test
