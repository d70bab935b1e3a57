#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "export/lanes/lane_samples.h"

namespace stackpack::exporting {

/// How long the samples of a lane last, for viewers which draw time.
///
/// A sample says what ran at one moment. It is drawn until the next sample of its lane, but no
/// longer than twice the typical interval: after that the thread was not running, or not observed,
/// and nothing is drawn. The typical interval is the median distance between the lane's first
/// samples.
class LaneTimeline {
 public:
  /// Reads the lane once. Errors: those of the replay.
  static Result<LaneTimeline> create(const LaneReplay& replay);

  /// A part of the timeline: a sample, or a gap (no sample).
  struct Part {
    const LaneSample* sample = nullptr;
    std::uint64_t duration_ns = 0;
  };
  /// All parts in order; they cover first_ns() to last_ns() without holes.
  Status for_each(const LaneReplay& replay, const std::function<void(const Part&)>& visit) const;

  [[nodiscard]] std::uint64_t first_ns() const { return first_ns_; }
  [[nodiscard]] std::uint64_t last_ns() const { return last_ns_ + interval_ns_; }
  [[nodiscard]] std::uint64_t interval_ns() const { return interval_ns_; }

 private:
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t interval_ns_ = 1;
};

}  // namespace stackpack::exporting
