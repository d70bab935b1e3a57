// The samples that a report counts, with what their frames belong to.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/analysis/hot_spot_query.h"
#include "app/analysis/sample_types.h"
#include "app/analysis/stack_filter.h"
#include "core/saturating.h"
#include "query/naming/frame_entities.h"
#include "query/naming/shared_naming.h"
#include "query/naming/stack_entities.h"
#include "query/selection/capture_view.h"
#include "query/selection/pid_sources.h"
#include "query/selection/sample_grouper.h"
#include "query/selection/sample_selection.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// A file, the samples wanted, and what their frames belong to.
class SampleCounting {
 public:
  /// The reader must outlive this. Errors: as hot_spots.
  static Result<std::unique_ptr<SampleCounting>> open(const Reader& reader,
                                                      const HotSpotQuery& query);

  /// visit(group, entities of its callstack leaf first) for every group of samples that has a
  /// callstack; groups without one are given no entities.
  using Visit = std::function<void(const query::Group&, std::span<const std::uint32_t> leaf_first)>;
  Status each_group(const query::GroupBy& by, const Visit& visit);

  /// Goes on to the next event, when the options leave the choice and this one has no sample.
  bool choose_next_event() { return selection_->choose_next_event(); }
  [[nodiscard]] std::uint64_t value_of(const query::Group& group) const {
    return selection_->value_of_group(group);
  }
  /// What the figures are of, once the samples were counted.
  void describe(HotSpots& spots) const;
  [[nodiscard]] const query::SampleSelection& selection() const { return *selection_; }
  [[nodiscard]] const query::FrameEntities& entities() const { return *entities_; }
  /// Host and row of the source of a process; of HotSpotKind::kSource.
  [[nodiscard]] std::string source_title(std::uint32_t pid) const;
  /// Of HotSpotKind::kType.
  [[nodiscard]] std::string_view type_title(const query::Group& group) const {
    return labels_ ? labels_->title(group.key.track) : types_->title(group.key.track);
  }
  /// Of HotSpotKind::kControlGroup.
  [[nodiscard]] std::string control_group_title(const query::Group& group) const;
  /// Waker or reason of a callstack of waits; of HotSpotKind::kWaker and kReason.
  [[nodiscard]] std::string_view wait_label(StackId stack) const {
    return view_.wait_label ? view_.wait_label(stack) : std::string_view();
  }

 private:
  SampleCounting(const Reader& reader, query::CaptureView view, const HotSpotQuery& query)
      : reader_(reader), view_(std::move(view)), query_(query) {
    query_.filters.all_events |= query.by == HotSpotKind::kEvent;
  }
  Status find_types(const Reader& reader);
  // Hands a group to `visit` where its callstack, leaf first, is wanted.
  void show(const query::Group& group, std::span<const std::uint32_t> stack, const Visit& visit);
  [[nodiscard]] std::unique_ptr<query::FrameEntities> make_entities() const;
  Status visit_groups(std::span<const query::Group> groups, const Visit& visit);
  Status visit_in_parts(std::span<const query::Group> groups, const Visit& visit);
  Status visit_shared(std::span<const query::Group> groups, const Visit& visit);
  /// The row of a sample in place of its track; nothing: it is not wanted.
  using RowOfSample = std::function<std::optional<std::uint32_t>(const query::SelectedSample&)>;
  Status each_group_of_samples(const query::GroupBy& by, const RowOfSample& row_of,
                               const Visit& visit);
  [[nodiscard]] RowOfSample row_by_type(const query::GroupBy& by);

  const Reader& reader_;
  query::CaptureView view_;
  HotSpotQuery query_;
  std::unique_ptr<query::SampleSelection> selection_;
  std::unique_ptr<query::FrameEntities> entities_;
  std::optional<query::StackEntities> stacks_;
  std::optional<query::SharedNaming> shared_naming_;  // once there are many groups
  StackFilter filter_;
  std::vector<MergedSource> sources_;  // of a merged file
  std::optional<query::PidSources> origins_;
  std::optional<SampleTypes> types_;
  std::optional<query::LabelValues> labels_;
  std::vector<bool> shown_;  // callstacks that patterns leave, samples without one last
  std::vector<StackId> ids_;
  std::vector<const query::Group*> with_stack_;
};

/// Sums by number; each number once per callstack.
class EntitySums {
 public:
  void begin_stack() { ++stack_; }
  void add_total(std::uint32_t number, std::uint64_t value) {
    Sum& sum = at(number);
    if (sum.last_stack != stack_) {
      sum.last_stack = stack_;
      core::add_saturating(sum.total, value);
    }
  }
  void add_self(std::uint32_t number, std::uint64_t value) {
    std::uint64_t& self = at(number).self;
    core::add_saturating(self, value);
  }

  template <typename Name>
  void list(std::vector<HotSpot>& rows, const Name& name) const {
    for (std::uint32_t i = 0; i < sums_.size(); ++i) {
      if (sums_[i].last_stack != 0 || sums_[i].self != 0) {
        HotSpot row = name(i);
        row.self = sums_[i].self;
        row.total = sums_[i].total;
        rows.push_back(std::move(row));
      }
    }
  }

 private:
  struct Sum {
    std::uint64_t self = 0;
    std::uint64_t total = 0;
    std::uint64_t last_stack = 0;
  };
  Sum& at(std::uint32_t number) {
    if (number >= sums_.size()) {
      sums_.resize(std::size_t{number} + 1);
    }
    return sums_[number];
  }

  std::vector<Sum> sums_;
  std::uint64_t stack_ = 0;
};

/// A row without figures.
HotSpot spot_of(const query::FrameEntity& entity);
/// `name (id)`.
std::string id_text(std::string_view name, std::uint32_t id);
/// What a report says that has nothing to show, not even that threads were idle.
inline constexpr Error kNothingSelected{ErrorCode::kUsage, kNoOffset,
                                        "no sample of the file is selected"};

}  // namespace stackpack::app
