// Reading .spk files in tests.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "stackpack/reader.h"
#include "support/random_stacks.h"
#include "support/spk_file_maker.h"

namespace stackpack::test {

/// The text of a failure, empty for success.
template <typename T>
std::string failure(const Result<T>& result) {
  return result.has_value() ? std::string() : std::string(result.error().what);
}

inline std::unique_ptr<Reader> open_spk(std::span<const std::byte> file,
                                        const ReaderOptions& options = {}) {
  Result<std::unique_ptr<Reader>> reader = Reader::open_memory(file, options);
  REQUIRE_MESSAGE(reader.has_value(), failure(reader));
  return std::move(reader).value();
}

/// All callstacks, root first; nothing when one of them could not be read.
inline std::optional<std::vector<RootFirstStack>> stacks_in(const Reader& reader) {
  std::vector<RootFirstStack> stacks;
  std::vector<Frame> frames;
  for (StackId id = 0; id < reader.stack_count(); ++id) {
    if (!reader.callstack(id, frames)) {
      return std::nullopt;
    }
    stacks.emplace_back(frames.rbegin(), frames.rend());
  }
  return stacks;
}

inline std::vector<RootFirstStack> list_of(const StackSet& stacks) {
  return {stacks.begin(), stacks.end()};
}

inline std::optional<std::vector<StoredSample>> samples_in(const Reader& reader,
                                                           const SampleQuery& query = {}) {
  std::vector<StoredSample> all;
  const Status read = reader.samples(query, [&all](std::span<const StoredSample> samples) {
    all.insert(all.end(), samples.begin(), samples.end());
    return true;
  });
  return read ? std::optional(all) : std::nullopt;
}

/// Samples as a capture has them: ascending times with ties, a few threads on a few processors.
inline std::vector<StoredSample> random_samples(Random& random, std::size_t events,
                                                std::size_t stacks, std::size_t count) {
  std::vector<StoredSample> samples;
  std::uint64_t time = 1'000'000'000'000;
  for (std::size_t i = 0; i < count; ++i) {
    StoredSample sample;
    time += random.below(3) == 0 ? 0 : random.below(100'000);
    sample.time_ns = time;
    sample.cpu = static_cast<std::uint32_t>(random.below(4));
    sample.tid = static_cast<std::uint32_t>(100 + random.below(20));
    sample.pid = sample.tid / 7;
    sample.event = static_cast<std::uint32_t>(random.below(events));
    sample.weight = random.below(10) == 0 ? random.next() : 250'000;
    sample.flags = static_cast<std::uint8_t>(random.below(32));
    if (random.below(10) != 0) {
      sample.origin = StackOrigin::kRecorded;
      sample.stack = static_cast<StackId>(random.below(stacks) * random.below(stacks) / stacks);
    }
    samples.push_back(sample);
  }
  return samples;
}

inline SpkContent random_content(std::uint64_t seed, std::size_t stacks, std::size_t samples) {
  Random random(seed);
  SpkContent content;
  content.stacks = random_stacks(random, stacks, 40, 600);
  content.events = {{"cpu-clock", true}, {"sched:sched_switch", false}};
  content.samples = random_samples(random, content.events.size(), content.stacks.size(), samples);
  return content;
}

}  // namespace stackpack::test
