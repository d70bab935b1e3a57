// Intervals as samples, one by one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "query/selection/capture_view.h"
#include "query/selection/idle_pools.h"
#include "query/selection/made_samples.h"
#include "query/selection/wait_stacks.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/waits.h"

namespace stackpack::query {

inline constexpr Error kNoIntervals{
    ErrorCode::kUsage, kNoOffset,
    "the file has no intervals: no switches of threads were recorded, or they were left out"};

// The time that threads ran, shared out among the samples that were taken of them then.

/// Runs of threads, and how many samples of events that say where time goes lie in each. Such a
/// sample stands for an equal part of its run; the first ones for what does not divide.
/// Memory: 32 bytes a run.
class WallShares {
 public:
  /// Reads intervals and samples once. Errors: those of the reader.
  static Result<std::shared_ptr<const WallShares>> create(const Reader& reader,
                                                          const CaptureView& view);

  /// Whether no sample was taken during a running interval.
  [[nodiscard]] bool is_empty(const WaitInterval& run) const;
  /// Samples that have a share, and runs that have none.
  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  [[nodiscard]] std::uint64_t empty_runs() const { return empty_runs_; }

  /// One pass over the samples of the file, in any order.
  class Pass {
   public:
    explicit Pass(const WallShares& shares) : shares_(shares), seen_(shares.runs_.size(), 0) {}
    /// The ns that a sample stands for; nothing: it has no share.
    std::optional<std::uint64_t> share_of(const StoredSample& sample);

   private:
    const WallShares& shares_;
    std::vector<std::uint32_t> seen_;
  };

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Run {
    std::uint64_t thread = 0;  // source and tid
    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = 0;
    std::uint64_t samples = 0;
  };

  [[nodiscard]] std::uint64_t thread_of(std::uint32_t pid, std::uint32_t tid) const;
  [[nodiscard]] std::size_t run_at(std::uint64_t thread, std::uint64_t time_ns) const;
  [[nodiscard]] std::size_t run_of(const StoredSample& sample) const;
  Status read_runs(const Reader& reader);

  std::vector<std::uint64_t> source_firsts_;
  std::vector<bool> events_;  // those that say where time goes
  std::vector<Run> runs_;     // by thread, time
  std::uint64_t samples_ = 0;
  std::uint64_t empty_runs_ = 0;
};

/// Makes samples of intervals.
class WaitSamples {
 public:
  WaitSamples(const Reader& reader, IdlePools pools, std::uint64_t least_ns)
      : reader_(reader), pools_(std::move(pools)), least_ns_(least_ns) {
    events_.fill(kNoEvent);
  }

  void set_event(WaitState state, std::uint32_t event) {
    events_[static_cast<std::size_t>(state)] = event;
  }
  void keep_pools() { marks_pools_ = false; }
  /// All intervals are of one event, but runs that samples of the file stand for.
  void set_wall(std::uint32_t event, std::shared_ptr<const WallShares> wall) {
    events_.fill(event);
    wall_ = std::move(wall);
  }
  [[nodiscard]] const WallShares* wall() const { return wall_.get(); }
  /// The part of the wall time that a sample of the file stands for.
  [[nodiscard]] std::optional<StoredSample> share(StoredSample sample,
                                                  WallShares::Pass& pass) const {
    const auto length = pass.share_of(sample);
    sample.event = events_.front();
    sample.weight = length.value_or(0);
    sample.flags = static_cast<std::uint8_t>(sample.flags | pool_flag(sample.pid, sample.tid));
    return length ? std::optional(sample) : std::nullopt;
  }
  /// Callstacks of samples are those of `stacks`.
  void set_stacks(std::shared_ptr<const WaitStacks> stacks) { stacks_ = std::move(stacks); }

  /// In the order of the file. Errors: those of the reader.
  Status visit(const SampleQuery& query, const SampleVisit& visit) const;

 private:
  static constexpr std::uint32_t kNoEvent = ~std::uint32_t{0};

  [[nodiscard]] std::uint32_t event_of(const WaitInterval& row) const {
    return events_[static_cast<std::size_t>(row.state)];
  }
  [[nodiscard]] bool is_wanted(const WaitInterval& row) const {
    const bool is_shared_out =
        wall_ != nullptr && row.state == WaitState::kRunning && !wall_->is_empty(row);
    return event_of(row) != kNoEvent && row.to_ns - row.from_ns >= least_ns_ && !is_shared_out;
  }
  [[nodiscard]] std::uint8_t pool_flag(std::uint32_t pid, std::uint32_t tid) const {
    return marks_pools_ && pools_.has(pid, tid) ? std::uint8_t{kSampleIdle} : std::uint8_t{0};
  }
  [[nodiscard]] StoredSample sample_of(const WaitInterval& row) const {
    StoredSample sample;
    sample.time_ns = row.to_ns;
    sample.pid = row.pid;
    sample.tid = row.tid;
    sample.event = event_of(row);
    sample.weight = row.to_ns - row.from_ns;
    sample.stack = stacks_ ? stacks_->id_of(row) : row.stack;
    sample.origin = sample.stack == kNoStack ? StackOrigin::kNone : StackOrigin::kRecorded;
    const bool is_part = (row.flags & (kWaitOpenStart | kWaitOpenEnd | kWaitCut)) != 0;
    if (is_part) {
      sample.flags |= kSampleIncomplete;
    }
    sample.flags = static_cast<std::uint8_t>(sample.flags | pool_flag(row.pid, row.tid));
    return sample;
  }

  const Reader& reader_;
  IdlePools pools_;
  std::uint64_t least_ns_;
  bool marks_pools_ = true;
  std::shared_ptr<const WaitStacks> stacks_;
  std::shared_ptr<const WallShares> wall_;
  std::array<std::uint32_t, kWaitStateCount> events_{};
};

}  // namespace stackpack::query
