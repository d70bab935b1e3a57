#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "export/html/page_content.h"
#include "export/html/page_tree.h"
#include "query/selection/sample_selection.h"

namespace stackpack::exporting {

/// Rows that a timeline has at most: they add about a megabyte to a page.
inline constexpr std::size_t kMostTimeRows = std::size_t{1} << 19;

inline constexpr std::uint32_t kNoEventRow = ~std::uint32_t{0};

/// The samples of one file, and what they are in a page. All that is named here must outlive it.
struct TimelineSource {
  query::SampleSelection& selection;
  PageTree& tree;
  std::span<const std::uint32_t> thread_of_track;  ///< what TimeRow::thread says
  std::span<const std::uint32_t> row_of_event;     ///< rows of the events; or kNoEventRow
  /// The page's node for a node of the tree. Empty: the same.
  std::span<const std::uint32_t> page_nodes = {};
  /// What is added to a time, in 64 bits that wrap, to get one of the page.
  std::uint64_t shift_ns = 0;
};

/// What a timeline is about.
struct TimelineFrame {
  const PageContent& content;
  std::span<const EventMeasures> events;
  query::TimeRange range;     ///< of all samples
  std::uint64_t samples = 0;  ///< how many
  bool timed = true;          ///< false: all lie in one bucket
};

using TakeSource = std::function<Status(TimelineSource&)>;

/// The samples over time, as finely as they fit; nothing when threads and events alone are too
/// many. `each_source` hands over every file, which is read once, however coarse it becomes.
/// Memory: some times 40 bytes a row, 20 a node where there are more samples than rows.
/// Errors: those of the selections and of `each_source`.
Result<std::optional<PageTimeline>> page_timeline(
    const TimelineFrame& frame, const std::function<Status(const TakeSource&)>& each_source);

/// By row of the file's event table: its row among the tree's events, or kNoEventRow.
std::vector<std::uint32_t> rows_of_events(const PageTree& tree, std::size_t events);

}  // namespace stackpack::exporting
