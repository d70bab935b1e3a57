#include "export/html/page_timeline.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "export/html/page_order.h"
#include "export/html/sample_nodes.h"
#include "export/html/time_rows.h"

namespace stackpack::exporting {

namespace {

// From fine to coarse: the first that fits is taken. A screen has some 2,000 columns.
constexpr std::array<TimeResolution, 12> kResolutions = {{{2000, 0},
                                                          {1000, 0},
                                                          {500, 0},
                                                          {1000, 0.0001},
                                                          {500, 0.0001},
                                                          {500, 0.001},
                                                          {200, 0.001},
                                                          {100, 0.001},
                                                          {200, 0.01},
                                                          {100, 0.01},
                                                          {200, 2},
                                                          {50, 2}}};
constexpr std::uint32_t kNoEventRow = ~std::uint32_t{0};

class TimelineReading {
 public:
  TimelineReading(ExportJob& job, PageTree& tree, const PageContent& content,
                  const SampleSurvey& survey)
      : job_(job),
        tree_(tree),
        content_(content),
        survey_(survey),
        sample_nodes_(tree.resolver(), job.options.memory_limit / 2) {
    row_of_event_.assign(job.view().events.size(), kNoEventRow);
    for (std::uint32_t row = 0; row < tree.events().size(); ++row) {
      row_of_event_[tree.events()[row].event] = row;
    }
  }

  Result<std::optional<PageTimeline>> read() {
    std::optional<PageTimeline> timeline;
    for (auto begin = kResolutions.begin(); begin != kResolutions.end() && !timeline;) {
      const auto end = std::find_if(begin, kResolutions.end(), [&](const TimeResolution& other) {
        return other.least_share != begin->least_share;
      });
      if (const Status status = try_all(std::span(begin, end)); !status) {
        return status.error();
      }
      const auto fits = std::find_if(candidates_.begin(), candidates_.end(),
                                     [](const TimeRows& rows) { return rows.fits(); });
      if (fits != candidates_.end()) {
        timeline = fits->finish();
      }
      begin = end;
    }
    if (timeline) {
      for (const PageTree::EventRow& row : tree_.events()) {
        timeline->measures_of_event.push_back(row.measures);
      }
    }
    return timeline;
  }

 private:
  // Resolutions that cut callstacks alike, in one pass over the samples.
  Status try_all(std::span<const TimeResolution> resolutions) {
    const TimeRange range = job_.selection.time_range();
    candidates_.clear();
    for (const TimeResolution& resolution : resolutions) {
      candidates_.emplace_back(range.first_ns, range.last_ns, resolution, kMostTimeRows);
    }
    make_cut(resolutions.front().least_share);
    const Error enough{ErrorCode::kCancelled, kNoOffset, "export: no resolution fits"};
    const Status status =
        job_.selection.for_each([&](std::span<const SelectedSample> block) -> Status {
          const bool any = std::any_of(candidates_.begin(), candidates_.end(),
                                       [](const TimeRows& rows) { return rows.fits(); });
          return any ? count(block) : Status{enough};
        });
    const bool given_up = !status && status.error().code == ErrorCode::kCancelled;
    return given_up ? Status{} : status;
  }

  // By node, where a callstack that ends there is cut: at the last node with enough of the samples
  // of some event.
  void make_cut(double share) {
    cut_.clear();
    if (share <= 0) {
      return;
    }
    std::vector<bool> kept(content_.parents.size());
    for (const PageTree::EventRow& row : tree_.events()) {
      const std::vector<std::uint64_t> totals =
          totals_of(content_, row.measures.count.value_or(row.measures.weight.value_or(0)));
      const double least = share * static_cast<double>(totals.front());
      for (std::size_t node = 0; node < totals.size(); ++node) {
        kept[node] = kept[node] || static_cast<double>(totals[node]) >= least;
      }
    }
    cut_.resize(content_.parents.size());
    for (std::uint32_t node = 1; node < cut_.size(); ++node) {
      cut_[node] = kept[node] ? node : cut_[content_.parents[node]];
    }
  }

  Status count(std::span<const SelectedSample> block) {
    if (const Status status = sample_nodes_.find(block, nodes_); !status) {
      return status;
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      const SelectedSample& sample = block[i];
      TimeRow row;
      row.thread = survey_.thread_of_track[sample.track];
      row.event = row_of_event_[sample.event];
      row.node = tree_.node_of(nodes_[i]);
      row.node = cut_.empty() ? row.node : cut_[row.node];
      row.count = sample.count;
      row.weight = sample.weight;
      for (TimeRows& rows : candidates_) {
        if (row.event != kNoEventRow) {
          rows.add(sample.time_ns, row);
        }
      }
    }
    return {};
  }

  ExportJob& job_;
  PageTree& tree_;
  const PageContent& content_;
  const SampleSurvey& survey_;
  SampleNodes sample_nodes_;
  std::vector<std::uint32_t> row_of_event_;
  std::vector<TimeRows> candidates_;
  std::vector<std::uint32_t> cut_;  // empty: nothing is cut
  std::vector<std::uint32_t> nodes_;
};

}  // namespace

Result<std::optional<PageTimeline>> page_timeline(ExportJob& job, PageTree& tree,
                                                  const PageContent& content,
                                                  const SampleSurvey& survey) {
  const TimeRange range = job.selection.time_range();
  if (!job.view().has_samples || job.selection.aggregated() || range.first_ns == range.last_ns) {
    return std::optional<PageTimeline>();
  }
  return TimelineReading(job, tree, content, survey).read();
}

}  // namespace stackpack::exporting
