// The labels of samples as a page tells them apart: which sets have rows of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "export/html/page_content.h"
#include "query/selection/sample_selection.h"

namespace stackpack::exporting {

/// Threads times sets that occur: a page with more has no labels.
inline constexpr std::size_t kMostPageTracks = std::size_t{1} << 16;
/// Bytes of keys and values of a page's sets.
inline constexpr std::size_t kMostPageLabelBytes = std::size_t{1} << 22;

/// The sets of labels of several files as one. Memory: the sets of all files.
class LabelRows {
 public:
  /// Adds those that the samples of a file have; the selection has SelectionRules::labels. Result:
  /// by track of the file, a number for rows_of(). Errors: those of the view.
  Result<std::vector<std::uint32_t>> add(const query::SampleSelection& selection,
                                         std::span<const std::uint64_t> samples_of_track);

  [[nodiscard]] bool any() const { return !sets_.empty(); }

  /// Chooses those with most samples, as many as there may be threads (busiest()).
  void choose();

  /// What TimeRow::thread says of a file's tracks, once they are chosen.
  /// `threads`, `numbers`: by track, its row of PageContent::threads, and what add() gave.
  std::vector<std::uint32_t> rows_of(std::span<const std::uint32_t> threads,
                                     std::span<const std::uint32_t> numbers);

  /// Whether all tracks had rows.
  [[nodiscard]] bool fits() const { return page_.tracks.size() <= kMostPageTracks; }
  [[nodiscard]] std::size_t set_count() const { return sets_.size(); }
  /// Of the files that rows_of() was asked for.
  [[nodiscard]] const PageLabels& page() const { return page_; }

 private:
  std::map<PageLabels::Set, std::uint32_t> sets_;  // 1 and more
  std::vector<std::uint64_t> samples_{0};          // by number
  std::vector<std::uint32_t> row_of_set_;          // the same: PageLabels::Track::set
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> tracks_;
  PageLabels page_;
};

/// Says which labels are not in a page, and how far its callstacks go where it has no times.
void add_label_facts(const LabelRows& labels, PageContent& content);

}  // namespace stackpack::exporting
