#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/index_table.h"
#include "export/html/page_content.h"

namespace stackpack::exporting {

/// How the rows of a timeline are made coarser where there are too many.
struct TimeResolution {
  std::uint32_t most_buckets = 1;
  double least_share = 0;  ///< callstacks end at nodes with less; above 1: all of them at the root
};

/// Rows of one stretch of time after the other: in each, every thread, node and event has one.
///
/// Memory: 56 bytes a row of the stretch, 40 of others.
class SummedRows {
 public:
  /// Adds to the row of its thread, node and event in this stretch, or makes one. False: that would
  /// be more than `limit` rows.
  bool add(const TimeRow& row, std::size_t limit);
  /// From now on, rows are of another stretch.
  void begin_stretch() { index_.clear(); }
  void clear();
  void release();
  [[nodiscard]] std::vector<TimeRow>& rows() { return rows_; }

 private:
  std::vector<TimeRow> rows_;
  core::IndexTable index_;  // of the rows of the stretch
};

/// Rows of one resolution, from samples in time order.
///
/// Memory: 40 bytes a row, at most `limit` rows; then it gives up.
class TimeRows {
 public:
  TimeRows(std::uint64_t start_ns, std::uint64_t last_ns, const TimeResolution& resolution,
           std::size_t limit);

  /// Adds samples of one moment; `row.bucket` is ignored, `row.node` is cut already.
  void add(std::uint64_t time_ns, const TimeRow& row);
  /// False: there are more rows than the limit.
  [[nodiscard]] bool fits() const { return fits_; }
  [[nodiscard]] const TimeResolution& resolution() const { return resolution_; }
  [[nodiscard]] std::uint64_t width_ns() const { return width_ns_; }

  /// The timeline, but for measures_of_event. `timed`: whether its buckets are times.
  PageTimeline finish(bool timed = true);

 private:
  [[nodiscard]] std::string sentence(bool timed) const;
  TimeResolution resolution_;
  std::uint64_t start_ns_;
  std::uint64_t width_ns_ = 1;
  std::uint32_t buckets_ = 1;
  std::size_t limit_;
  bool fits_ = true;
  std::uint32_t bucket_ = 0;
  SummedRows rows_;  // a stretch is bucket_
};

/// The smallest of 1, 2, 5, 10, 20, ... ns by which a time is cut into at most that many.
std::uint64_t round_width(std::uint64_t duration_ns, std::uint32_t most_buckets);

/// `250 ms`: a width as people read it.
std::string width_text(std::uint64_t width_ns);

}  // namespace stackpack::exporting
