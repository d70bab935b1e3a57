#include "export/html/page_timeline.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "export/html/page_order.h"
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

class TimelineReading {
 public:
  TimelineReading(const TimelineFrame& frame,
                  const std::function<Status(const TakeSource&)>& each_source)
      : content_(frame.content),
        events_(frame.events),
        range_(frame.range),
        each_source_(each_source) {}

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
        timeline->measures_of_event.assign(events_.begin(), events_.end());
      }
      begin = end;
    }
    return timeline;
  }

 private:
  // Resolutions that cut callstacks alike, in one pass over the samples.
  Status try_all(std::span<const TimeResolution> resolutions) {
    candidates_.clear();
    for (const TimeResolution& resolution : resolutions) {
      candidates_.emplace_back(range_.first_ns, range_.last_ns, resolution, kMostTimeRows);
    }
    make_cut(resolutions.front().least_share);
    const Error enough{ErrorCode::kCancelled, kNoOffset, "export: no resolution fits"};
    const Status status = each_source_([&](TimelineSource& source) {
      return source.selection.for_each_summed({}, [&](std::span<const query::SummedSample> block) {
        const bool any = std::any_of(candidates_.begin(), candidates_.end(),
                                     [](const TimeRows& rows) { return rows.fits(); });
        return any ? count(source, block) : Status{enough};
      });
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
    for (const EventMeasures& event : events_) {
      const std::vector<std::uint64_t> totals =
          totals_of(content_, event.count.value_or(event.weight.value_or(0)));
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

  Status count(const TimelineSource& source, std::span<const query::SummedSample> block) {
    if (const Status status = source.sample_nodes.find(block, nodes_); !status) {
      return status;
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      const query::SummedSample& sample = block[i];
      TimeRow row;
      row.thread = source.thread_of_track[sample.track];
      row.event = source.row_of_event[sample.event];
      row.node = source.tree.node_of(nodes_[i]);
      row.node = source.page_nodes.empty() ? row.node : source.page_nodes[row.node];
      row.node = cut_.empty() ? row.node : cut_[row.node];
      row.count = sample.count;
      row.weight = sample.weight;
      for (TimeRows& rows : candidates_) {
        if (row.event != kNoEventRow) {
          rows.add(sample.time_ns + source.shift_ns, row);
        }
      }
    }
    return {};
  }

  const PageContent& content_;
  std::span<const EventMeasures> events_;
  query::TimeRange range_;
  const std::function<Status(const TakeSource&)>& each_source_;
  std::vector<TimeRows> candidates_;
  std::vector<std::uint32_t> cut_;  // empty: nothing is cut
  std::vector<std::uint32_t> nodes_;
};

}  // namespace

Result<std::optional<PageTimeline>> page_timeline(
    const TimelineFrame& frame, const std::function<Status(const TakeSource&)>& each_source) {
  return TimelineReading(frame, each_source).read();
}

std::vector<std::uint32_t> rows_of_events(const PageTree& tree, std::size_t events) {
  std::vector<std::uint32_t> rows(events, kNoEventRow);
  for (std::uint32_t row = 0; row < tree.events().size(); ++row) {
    rows[tree.events()[row].event] = row;
  }
  return rows;
}

}  // namespace stackpack::exporting
