#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "query/event_groups.h"
#include "query/selection/capture_view.h"
#include "stackpack/export.h"
#include "stackpack/result.h"

namespace stackpack::query {

/// What a report asks for besides its options.
struct SelectionRules {
  /// For a person to read: idle threads are left out unless the filter says otherwise.
  bool is_report = false;
  /// SelectedSample::number and control_group are asked for. Samples are taken one by one then.
  bool numbers = false;
  /// Samples of a thread with other labels are of another track. Implies `numbers`.
  bool labels = false;
  /// The event is that of this key, which was chosen among those of several files. Empty: the
  /// preferred one of the file.
  std::string event_key;
  /// Events that count one thing on processors of several kinds stay apart.
  bool processors_apart = false;
};

/// Whether figures of all samples are added up under these options, so that they should be of one
/// event.
bool shows_one_event(const CaptureView& view, const ExportOptions& options);

/// Groups of the events that a filter lets through, the preferred one first. Where the file is a
/// merged one with several events of one base, each sample's event and process are read.
/// `processors_apart`: as SelectionRules.
/// Errors: kUsage when a pattern fits no event or all are excluded; those of the reader.
Result<std::vector<EventGroup>> wanted_groups(const CaptureView& view, const SampleFilter& filter,
                                              bool processors_apart = false);

/// Which events of a file a selection is about, and what their samples count for: the one place
/// that reports, exports, pages and comparisons ask.
class EventChoice {
 public:
  /// Errors: as wanted_groups; kUsage when weights of several units would have to be added up.
  static Result<EventChoice> create(const CaptureView& view, const ExportOptions& options,
                                    const SelectionRules& rules);

  /// Whether samples of that row of the event table are wanted.
  [[nodiscard]] bool wants(std::uint32_t event) const { return wanted_[event]; }

  /// The row that stands for all events which count the same thing as `event`.
  [[nodiscard]] std::uint32_t joined(std::uint32_t event) const { return joined_[event]; }
  /// What the group of an event is called.
  [[nodiscard]] const std::string& name_of(std::uint32_t event) const;

  /// The key of its group.
  [[nodiscard]] const std::string& key_of(std::uint32_t event) const;

  /// What a sample of the event counts for.
  [[nodiscard]] const Measure& measure_of(std::uint32_t event) const;
  /// What its weights are counted in, whether or not they are what samples count for.
  [[nodiscard]] const std::string& weight_unit(std::uint32_t event) const;
  [[nodiscard]] bool weighted(std::uint32_t event) const { return weighted_[event]; }
  [[nodiscard]] bool any_weighted() const;

  /// The row that stands for the event which a view of one event shows first; 0 in a file without.
  [[nodiscard]] std::uint32_t main_event() const {
    return groups_.empty() ? 0 : joined_[groups_[chosen_].events.front()];
  }
  /// The wanted groups, the preferred one first.
  [[nodiscard]] const std::vector<EventGroup>& groups() const { return groups_; }

  /// True when the choice is main_event() alone because the options left it.
  [[nodiscard]] bool is_chosen() const { return chooses_; }
  /// Goes on to the next event that could be chosen. False when there is none.
  bool choose_next();
  /// The events that the choice left out, as far as they have samples.
  [[nodiscard]] std::vector<EventCount> left_out() const;

 private:
  [[nodiscard]] std::size_t group_of(std::uint32_t event) const;
  Status choose_measures(const CaptureView& view, const ExportOptions& options);
  void want_chosen();

  std::vector<EventGroup> groups_;
  std::vector<Measure> measures_;  // by group, and one more for what has none
  std::vector<std::string> weight_units_;
  std::vector<std::uint32_t> group_of_;  // by event
  std::vector<std::uint32_t> joined_;    // by event
  std::vector<bool> wanted_;
  std::vector<bool> weighted_;
  std::size_t chosen_ = 0;
  bool chooses_ = false;
};

}  // namespace stackpack::query
