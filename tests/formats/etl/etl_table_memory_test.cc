// What a trace names as much of as it likes goes to disk beyond a budget: the result is the same.
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "formats/etl/stacks/stack_keys.h"
#include "support/etl_reading.h"

namespace stackpack::test {
namespace {

constexpr etl::Guid kFloodGuid = etl::make_guid(0x11111111, 0x2222, 0x3333, 0x4444, 0x555555555555);

// Thousands of threads, open keys, pairs of keys, waiting halves, processes and images, at random.
std::vector<std::byte> busy_trace(std::uint64_t seed, std::uint32_t events) {
  return make_etl({}, [seed, events](EtlWriter& out) {
    std::mt19937_64 random(seed);
    const auto frames_at = [&random](std::uint64_t base) {
      EtlWriter::Frames frames(1 + random() % (random() % 50 == 0 ? 400 : 20));
      for (std::uint64_t& frame : frames) {
        frame = base + random() % 5000;
      }
      return frames;
    };
    for (std::uint32_t i = 0; i < events; ++i) {
      const std::uint64_t clock = 1000 + 10 * std::uint64_t{i};
      const auto cpu = static_cast<std::uint16_t>(random() % 2);
      const auto tid = static_cast<std::uint32_t>(random() % 3000);
      const std::uint32_t pid = tid % 50 == 0 ? 4 : 10 + tid / 40;
      const std::uint64_t key = random() % 4000;
      const bool kernel = random() % 2 == 0;
      out.sample(cpu, clock, tid, kU + i);
      switch (random() % 10) {
        case 0:
        case 1:
          out.stack(cpu, clock + 1, clock, pid, tid, frames_at(kernel ? kK : kU));
          break;
        case 2:
        case 3:
        case 4:
          out.key_reference(cpu, clock + 1, clock, pid, tid, key, kernel);
          break;
        case 5:
          out.key_reference(cpu, clock + 1, clock, pid, tid, key, true);
          out.key_reference(cpu, clock + 2, clock, pid, tid, random() % 4000, false);
          break;
        case 6:
          out.key_definition(cpu, clock + 1, key, frames_at(kernel ? kK : kU));
          break;
        case 7:
          out.provider(cpu, clock + 1, kFloodGuid, 12, 1, 0, tid, pid, TestBytes(),
                       {out.stack_item(1 + random() % 3000, frames_at(kernel ? kK : kU))});
          break;
        case 8:
          out.provider(cpu, clock + 1, kFloodGuid, 13, 1, 0, tid % 3, pid, TestBytes(),
                       {out.key_item(random() % 3000, key)});
          break;
        default:
          out.thread(cpu, clock + 1, static_cast<std::uint8_t>(1 + random() % 4), pid, tid);
          out.process(cpu, clock + 2, static_cast<std::uint8_t>(1 + random() % 4), pid, 4, "p",
                      "p -x");
          out.image(cpu, clock + 3, random() % 4 == 0 ? 2 : 10, pid, kU + (random() % 512 << 16),
                    4096, "\\Device\\V\\" + std::string(random() % 300, 'm') + ".dll");
      }
      if (i == events / 2) {
        for (const std::uint16_t each : {std::uint16_t{0}, std::uint16_t{1}}) {
          out.flush(each);
        }
      }
    }
    out.volume(0, 1000 + 10 * std::uint64_t{events}, "\\Device\\V", "C:");
  });
}

using FloodLine =
    std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t, std::string>;

std::vector<FloodLine> lines_of(const EtlReading& reading) {
  std::vector<FloodLine> lines;
  for (const CollectingSink::Row& row : reading.sink.settled()) {
    lines.emplace_back(row.sample.time_ns, row.sample.pid, row.sample.tid, row.sample.event,
                       row.stack);
  }
  return lines;
}

std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::string>> modules_of(
    const EtlReading& reading) {
  std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::string>> lines;
  for (const Module& module : reading.sink.system_facts.finish().modules) {
    lines.emplace_back(module.pid, module.base, module.start_ns, module.path);
  }
  return lines;
}

TEST_SUITE_BEGIN("etl table memory");

TEST_CASE("a trace reads the same with next to no memory for its tables" *
          doctest::test_suite("slow")) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    CAPTURE(seed);
    const auto file = busy_trace(seed, 30'000);
    etl::ReadOptions options;
    const auto plenty = read_etl(file, options);
    options.table_bytes = 0;
    const auto little = read_etl(file, options);
    REQUIRE_FALSE(plenty->failed);
    REQUIRE_FALSE(little->failed);
    CHECK(lines_of(*little) == lines_of(*plenty));
    CHECK(modules_of(*little) == modules_of(*plenty));
    CHECK(little->summary.undefined_references == plenty->summary.undefined_references);
    CHECK(little->summary.undefined_references > 100);
    CHECK(little->summary.kernel_and_user == plenty->summary.kernel_and_user);
    CHECK(little->summary.joined_frames == plenty->summary.joined_frames);
    CHECK(little->summary.threads == plenty->summary.threads);
    CHECK(little->summary.processes == plenty->summary.processes);
    CHECK(little->summary.images == plenty->summary.images);
    const auto losses = little->sink.counters.sorted();
    const auto expected = plenty->sink.counters.sorted();
    REQUIRE(losses.size() == expected.size());
    for (std::size_t i = 0; i < losses.size(); ++i) {
      CHECK(losses[i].name == expected[i].name);
      CHECK(losses[i].count == expected[i].count);
    }
    // The budget was too small indeed.
    options.scratch_directory = "/nonexistent-directory";
    CHECK(read_etl(file, options)->failed);
    options.table_bytes = etl::ReadOptions{}.table_bytes;
    CHECK_FALSE(read_etl(file, options)->failed);
  }
}

TEST_CASE("more keys may be open than fit the memory, and each finds its frames" *
          doctest::test_suite("slow")) {
  scratch::SpillSpace space(std::filesystem::temp_directory_path().string(), 0);
  etl::StackKeys keys(space);
  constexpr std::uint32_t kKeys = 100'000;
  constexpr etl::KeySpace kSpaces[] = {etl::KeySpace::kKernel, etl::KeySpace::kUser,
                                       etl::KeySpace::kEither};
  const auto frames_of = [](std::uint64_t key, etl::KeySpace where) {
    std::vector<std::uint64_t> frames(1 + key % 40, key);
    frames.back() = static_cast<std::uint64_t>(where);
    return frames;
  };
  std::vector<etl::StackPart> parts;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    for (const etl::KeySpace where : kSpaces) {
      parts.push_back(keys.refer(where, key));
      REQUIRE(keys.refer(where, key) == parts.back());
    }
  }
  CHECK(keys.undefined_references() == 6 * kKeys);
  std::size_t next = 0;
  std::vector<std::uint64_t> frames;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    for (const etl::KeySpace where : kSpaces) {
      const etl::StackPart part = parts[next++];
      REQUIRE_FALSE(keys.defined(part));
      REQUIRE(keys.define(where, key, frames_of(key, where)) == part);
      REQUIRE(keys.defined(part));
      frames.assign(1, 77);
      keys.append_frames(part, frames);
      REQUIRE(frames.front() == 77);
      frames.erase(frames.begin());
      REQUIRE(frames == frames_of(key, where));
      if (key % 2 == 0) {  // the rest keeps its frames
        keys.release(part);
        keys.release(part);
        keys.release(part);
      }
    }
  }
  CHECK(keys.undefined_references() == 0);
  CHECK(keys.define(etl::KeySpace::kUser, 1, frames) == etl::kNoPart);
  for (std::uint64_t key = 1; key < kKeys; key += 2) {
    frames.clear();
    keys.append_frames(parts[key * 3], frames);
    REQUIRE(frames == frames_of(key, etl::KeySpace::kKernel));
  }
  CHECK(space.status());
  CHECK(space.spilled_bytes() > 1'000'000);
}

TEST_CASE("threads are remembered, however many there are") {
  constexpr std::uint32_t kThreads = 20'000;
  const auto file = make_etl({}, [](EtlWriter& out) {
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      out.thread(0, 100 + i, 3, 5 + i % 7, 1000 + i);
    }
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      const std::uint64_t clock = 100'000 + 10 * std::uint64_t{i};
      out.sample(0, clock, 1000 + i, kK + 1);
      out.stack(0, clock + 1, clock, 5, 1000 + i, {kK + 1});
    }
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      const std::uint64_t clock = 100'000 + 10 * std::uint64_t{i};
      out.stack(0, 1'000'000 + i, clock, 5, 1000 + i, {kU + i % 7});
      out.sample(0, 1'000'000 + i, 1000 + i, kU);
    }
  });
  etl::ReadOptions options;
  options.table_bytes = 0;
  const auto reading = read_etl(file, options);
  CHECK(reading->summary.kernel_and_user == kThreads);
  CHECK(reading->listing().size() == 7);
  CHECK(reading->loss("orphan_stacks") == 0);
  for (const CollectingSink::Row& row : reading->sink.rows) {
    if (row.sample.origin == StackOrigin::kIpOnly) {
      REQUIRE(row.sample.pid == 5 + (row.sample.tid - 1000) % 7);
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
