#include "export/html/page_timeline.h"

#include <algorithm>
#include <array>
#include <numeric>
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
  explicit TimelineReading(const TimelineFrame& frame)
      : content_(frame.content), events_(frame.events), range_(frame.range), timed_(frame.timed) {
    for (const TimeResolution& resolution : kResolutions) {
      if (!timed_ && !candidates_.empty() &&
          candidates_.back().rows.resolution().least_share == resolution.least_share) {
        continue;
      }
      add_candidate(resolution);
      if (frame.samples <= kMostTimeRows) {
        break;  // it fits
      }
    }
    choose_tick();
  }

  // All resolutions in one pass over the samples.
  Result<std::optional<PageTimeline>> read(
      const std::function<Status(const TakeSource&)>& each_source) {
    const Error enough{ErrorCode::kCancelled, kNoOffset, "export: no resolution fits"};
    const Status status = each_source([&](TimelineSource& source) {
      const Status counted =
          source.selection.for_each_summed({}, [&](std::span<const query::SummedSample> block) {
            return finest_ != nullptr ? count(source, block) : Status{enough};
          });
      end_tick();
      return counted;
    });
    if (!status && (status.error().code != ErrorCode::kCancelled || finest_ != nullptr)) {
      return status.error();
    }
    std::optional<PageTimeline> timeline;
    if (finest_ != nullptr) {
      timeline = finest_->rows.finish(timed_);
      timeline->measures_of_event.assign(events_.begin(), events_.end());
    }
    return timeline;
  }

 private:
  struct Candidate {
    TimeRows rows;
    std::size_t cut = 0;  // row of cuts_
  };

  // Resolutions of one share follow each other, and have one cut.
  void add_candidate(const TimeResolution& resolution) {
    if (cuts_.empty() ||
        candidates_.back().rows.resolution().least_share != resolution.least_share) {
      cuts_.push_back(cut_of(resolution.least_share));
    }
    candidates_.push_back(
        {{range_.first_ns, range_.last_ns, resolution, kMostTimeRows}, cuts_.size() - 1});
  }

  // By node, where a callstack that ends there is cut: at the last node with enough of the samples
  // of some event. Empty: nowhere.
  [[nodiscard]] std::vector<std::uint32_t> cut_of(double share) const {
    std::vector<std::uint32_t> cut;
    if (share <= 0) {
      return cut;
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
    cut.resize(content_.parents.size());
    for (std::uint32_t node = 1; node < cut.size(); ++node) {
      cut[node] = kept[node] ? node : cut[content_.parents[node]];
    }
    return cut;
  }

  [[nodiscard]] std::uint32_t cut_node(std::size_t cut, std::uint32_t node) const {
    return cuts_[cut].empty() ? node : cuts_[cut][node];
  }

  // A tick divides the buckets of all candidates that still fit. What lies in one is added up
  // before it goes to them: they are many, and most samples of a tick are alike.
  void choose_tick() {
    finest_ = nullptr;
    tick_ns_ = 0;
    for (Candidate& candidate : candidates_) {
      if (candidate.rows.fits()) {
        tick_ns_ = std::gcd(tick_ns_, candidate.rows.width_ns());
        finest_ = finest_ == nullptr ? &candidate : finest_;
      }
    }
  }

  void end_tick() {
    bool all_fit = true;
    for (const TimeRow& sum : tick_rows_.rows()) {
      for (Candidate& candidate : candidates_) {
        if (candidate.rows.fits()) {
          TimeRow row = sum;
          row.node = cut_node(candidate.cut, row.node);
          candidate.rows.add(tick_start_ns_, row);
          all_fit = all_fit && candidate.rows.fits();
        }
      }
    }
    tick_rows_.clear();
    tick_length_ns_ = 0;
    if (!all_fit) {
      choose_tick();
    }
  }

  // The tick of the next sample.
  void begin_tick(std::uint64_t time_ns) {
    end_tick();
    const std::uint64_t since = time_ns < range_.first_ns ? 0 : time_ns - range_.first_ns;
    tick_start_ns_ = range_.first_ns + since - since % std::max<std::uint64_t>(tick_ns_, 1);
    tick_length_ns_ = tick_ns_;
  }

  // False: no resolution fits.
  bool add(std::uint64_t time_ns, TimeRow row) {
    if (time_ns < tick_start_ns_ || time_ns - tick_start_ns_ >= tick_length_ns_ ||
        tick_rows_.rows().size() >= kMostTimeRows) {
      begin_tick(time_ns);
    }
    if (finest_ != nullptr) {
      row.node = cut_node(finest_->cut, row.node);
      tick_rows_.add(row, kMostTimeRows);
    }
    return finest_ != nullptr;
  }

  Status count(const TimelineSource& source, std::span<const query::SummedSample> block) {
    if (const Status status = source.tree.sample_nodes().find(block, nodes_); !status) {
      return status;
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      const query::SummedSample& sample = block[i];
      TimeRow row;
      row.event = source.row_of_event[sample.event];
      if (row.event == kNoEventRow) {
        continue;
      }
      row.thread = source.thread_of_track[sample.track];
      row.node = source.tree.node_of(nodes_[i]);
      row.node = source.page_nodes.empty() ? row.node : source.page_nodes[row.node];
      row.count = sample.count;
      row.weight = sample.weight;
      if (!add(timed_ ? sample.time_ns + source.shift_ns : range_.first_ns, row)) {
        break;
      }
    }
    return {};
  }

  const PageContent& content_;
  std::span<const EventMeasures> events_;
  query::TimeRange range_;
  bool timed_;
  std::vector<std::vector<std::uint32_t>> cuts_;  // finer ones first
  std::vector<Candidate> candidates_;             // the preferred one first
  Candidate* finest_ = nullptr;                   // the first that fits
  std::uint64_t tick_ns_ = 0;
  std::uint64_t tick_start_ns_ = 0;
  std::uint64_t tick_length_ns_ = 0;  // from its start; 0: the next sample begins one
  SummedRows tick_rows_;
  std::vector<std::uint32_t> nodes_;
};

}  // namespace

Result<std::optional<PageTimeline>> page_timeline(
    const TimelineFrame& frame, const std::function<Status(const TakeSource&)>& each_source) {
  return TimelineReading(frame).read(each_source);
}

std::vector<std::uint32_t> rows_of_events(const PageTree& tree, std::size_t events) {
  std::vector<std::uint32_t> rows(events, kNoEventRow);
  for (std::uint32_t row = 0; row < tree.events().size(); ++row) {
    rows[tree.events()[row].event] = row;
  }
  return rows;
}

}  // namespace stackpack::exporting
