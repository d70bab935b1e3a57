#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/number_table.h"
#include "query/naming/stack_resolver.h"
#include "query/selection/sample_selection.h"

namespace stackpack::exporting {

/// The samples of one event in one thread: what a viewer shows as one timeline.
struct Lane {
  std::uint32_t track = 0;
  std::uint32_t event = 0;
  std::uint64_t samples = 0;  ///< entries that a replay will show
};

struct LaneSample {
  std::uint64_t time_ns = 0;
  std::uint64_t count = 1;
  std::uint64_t value = 1;  ///< what it counts for
  std::uint32_t node = 0;   ///< where its callstack ends; the root when it has none
};

/// Shows the samples of a lane in time order. May be called several times; each call is the same.
using LaneReplay = std::function<Status(const std::function<void(const LaneSample&)>&)>;

/// Sorts samples by lane with bounded memory.
///
/// The samples of a file are in time order, those of all threads mixed. One pass counts the samples
/// of each lane; then as many neighbouring lanes as fit are collected in one pass each, and a lane
/// that fits alone in nothing is replayed piece by piece straight from the file.
/// Passes: at most 2 + 2 x samples / limit, and one for each replay of a large lane.
class LaneSamples {
 public:
  /// `limit`: samples held at once.
  LaneSamples(query::SampleSelection& selection, query::StackResolver& resolver, std::size_t limit);

  /// Finds the lanes: by pid, tid, then order of appearance.
  Status find_lanes();
  [[nodiscard]] const std::vector<Lane>& lanes() const { return lanes_; }
  /// The lane which a viewer should open on: that with most samples of the main event, or of all
  /// when that event has no lane.
  [[nodiscard]] std::size_t first_to_show() const { return first_to_show_; }

  /// False: an imported profile has no times, or a recorder left them out, so that all are the
  /// same.
  [[nodiscard]] bool has_times() const;
  /// `NAME pid N tid M` of the thread, as far as it is known.
  [[nodiscard]] std::string title_of(const Lane& lane) const;

  /// All lanes in order. A replay is valid during the visit.
  Status for_each(const std::function<Status(const Lane&, const LaneReplay&)>& visit);

  static constexpr std::size_t kBytesPerSample = 64;

 private:
  [[nodiscard]] std::size_t find_first_to_show() const;
  Status visit_together(std::size_t begin, std::size_t end,
                        const std::function<Status(const Lane&, const LaneReplay&)>& visit);
  Status visit_large(std::size_t lane,
                     const std::function<Status(const Lane&, const LaneReplay&)>& visit);
  Status stream(std::size_t lane, const std::function<void(const LaneSample&)>& visit);
  Status resolve();
  [[nodiscard]] std::uint32_t lane_of(const query::SummedSample& sample) const;
  [[nodiscard]] query::SummedFields fields_of_lane() const;

  query::SampleSelection& selection_;
  query::StackResolver& resolver_;
  std::size_t limit_;
  std::vector<Lane> lanes_;
  std::size_t first_to_show_ = 0;
  core::NumberTable<std::uint64_t> keys_;  // (track, event)
  std::vector<std::uint32_t> lane_of_key_;
  std::vector<LaneSample> samples_;
  std::vector<query::StackResolver::Request> requests_;  // parallel to samples_
  std::vector<std::uint32_t> nodes_;
};

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
