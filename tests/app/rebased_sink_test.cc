#include "app/merge/rebased_sink.h"

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "app/convert/capture_spool.h"
#include "stackpack/model.h"
#include "stackpack/result.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

// Adds callstacks, none like another, until there is an error or there are enough of them.
Status add_many_stacks(app::RebasedSink& sink) {
  constexpr std::uint32_t kStacks = 200'000;
  constexpr std::size_t kDepth = 16;
  std::vector<Frame> frames(kDepth);
  for (std::uint32_t i = 0; i < kStacks; ++i) {
    for (std::size_t k = 0; k < kDepth; ++k) {
      frames[k] = {FrameMode::kUser, (std::uint64_t{i} * kDepth + k) * 16};
    }
    if (const Status added = sink.add_stack(i, frames); !added) {
      return added;
    }
  }
  return sink.finish();
}

// Three callstacks of several modes, and samples of them in turn, at ascending times; which
// callstack a sample has is its processor.
void add_stacks_and_samples(app::RebasedSink& sink, std::uint64_t samples, std::uint64_t& time_ns) {
  constexpr std::uint32_t kStacks = 3;
  for (std::uint32_t entry = 0; entry < kStacks; ++entry) {
    const std::vector<Frame> frames{{FrameMode::kKernel, 5},
                                    {FrameMode::kUser, 7 + std::uint64_t{entry}},
                                    {FrameMode::kUser, 9}};
    REQUIRE(sink.add_stack(entry, frames).has_value());
  }
  for (std::uint64_t i = 0; i < samples; ++i) {
    Sample sample;
    sample.time_ns = time_ns++;
    sample.cpu = static_cast<std::uint32_t>(i % kStacks);
    sample.origin = StackOrigin::kRecorded;
    REQUIRE(sink.add_sample(sample, sample.cpu, 0, 1).has_value());
  }
}

}  // namespace

TEST_SUITE("rebased sink") {
  TEST_CASE("rebased sink: a temporary file that cannot be written is no fault of an input") {
    for (const unsigned threads : {0U, 1U}) {
      app::CaptureSpool spool({.scratch_directory = "/there/is/no/such/folder",
                               .memory_limit = std::uint64_t{16} << 20,
                               .builder_bytes = std::uint64_t{4} << 20,
                               .merges = true});
      app::RebasedSink sink(spool, threads);
      const Status status = add_many_stacks(sink);
      REQUIRE_FALSE(status.has_value());
      CHECK(status.error().code == ErrorCode::kIo);
      CHECK(status.error().part == kOutputPart);
    }
  }

  TEST_CASE("rebased sink: batches that are used again have nothing of what was in them") {
    constexpr std::uint64_t kGenerations = 3;
    constexpr std::uint64_t kSamples = 120'000;  // of a generation: more than all batches hold
    for (const unsigned threads : {0U, 1U}) {
      const ScratchDirectory folder;
      app::CaptureSpool spool({.scratch_directory = folder.file(""),
                               .memory_limit = std::uint64_t{64} << 20,
                               .builder_bytes = std::uint64_t{16} << 20,
                               .merges = true});
      spool.add_event({"cycles", true});
      app::RebasedSink sink(spool, threads);
      std::uint64_t time_ns = 0;
      for (std::uint64_t generation = 0; generation < kGenerations; ++generation) {
        add_stacks_and_samples(sink, kSamples, time_ns);
        REQUIRE(sink.end_generation().has_value());
      }
      REQUIRE(sink.finish().has_value());
      std::uint64_t expected_ns = 0;
      std::set<std::pair<std::uint32_t, std::uint32_t>> nodes;
      REQUIRE(spool
                  .for_each_sample([&](std::span<const app::SpooledSample> samples) -> Status {
                    for (const app::SpooledSample& sample : samples) {
                      REQUIRE(sample.time_ns == expected_ns);
                      ++expected_ns;
                      nodes.emplace(sample.cpu, sample.node);
                    }
                    return {};
                  })
                  .has_value());
      CHECK(expected_ns == kGenerations * kSamples);
      CHECK(nodes.size() == 3);  // each callstack ends in one place
    }
  }
}

}  // namespace stackpack::test
