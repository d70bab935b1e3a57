// Of a second on the clock, whose it was: time is shared by the threads that run in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stackpack/model.h"

namespace stackpack::query {

/// What the sweep says of a piece of time, whose length is the sample's weight.
enum class ClockUse : std::uint8_t {
  kSampled,      ///< the sample is one of those that were put in
  kNotSampled,   ///< a run without a sample; the sample has its thread and end
  kNothingRuns,  ///< no thread; the sample has the end
  kNotRecorded,
};

/// While P threads run, each of them gets 1/P of the time. A run's time up to a sample is the
/// sample's, the rest of a run that of its last sample. All weights that are emitted add up to the
/// length of the time, to the nanosecond; each is within 1 ns of its part.
///
/// What is put in comes in order of time; at one time begins first, then samples, then ends.
/// Memory: 120 bytes for each thread that runs. A piece longer than 78 hours has a wrong weight.
class LatencySweep {
 public:
  using Emit = std::function<void(const StoredSample&, ClockUse)>;
  /// Times in which nothing was recorded: begin and end, ascending and apart.
  using Gaps = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

  LatencySweep(std::uint64_t from_ns, Gaps gaps, Emit emit)
      : now_ns_(from_ns), gaps_(std::move(gaps)), emit_(std::move(emit)) {}

  void begin_run(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns);
  void end_run(std::uint32_t tid, std::uint64_t time_ns);
  /// False: its thread does not run then, and it has no part of the time.
  bool add(const StoredSample& sample);
  void finish(std::uint64_t to_ns);

 private:
  static constexpr unsigned kFraction = 16;  // bits of a nanosecond's parts

  struct Run {
    std::uint64_t shared = 0;              // shared_ at its last event
    std::uint64_t part = 0;                // of the sample that is held
    std::optional<StoredSample> sample{};  // the latest one
    std::uint32_t pid = kUnknownId;
  };

  void advance(std::uint64_t time_ns);
  void rest(std::uint64_t until_ns);
  void close(const StoredSample& sample, std::uint64_t part, ClockUse use);
  void give_held(std::uint64_t more_ns);

  std::uint64_t now_ns_;
  Gaps gaps_;
  std::size_t next_gap_ = 0;
  Emit emit_;
  std::uint64_t shared_ = 0;  // of a thread that ran all the time; with kFraction, modulo 2^64
  std::unordered_map<std::uint32_t, Run> runs_;  // that go on, by thread
  std::uint64_t carried_ = 0;                    // of parts that were rounded down
  std::uint64_t ran_ns_ = 0;
  std::uint64_t given_ns_ = 0;
  std::optional<std::pair<StoredSample, ClockUse>> held_;  // the latest one, to take what is left
};

}  // namespace stackpack::query
