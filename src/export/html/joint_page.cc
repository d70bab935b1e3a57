#include "export/html/joint_page.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/saturating.h"
#include "export/html/joint_content.h"
#include "export/html/joint_facts.h"
#include "export/html/page_facts.h"
#include "export/html/page_file.h"
#include "export/html/page_labels.h"
#include "export/html/page_timeline.h"
#include "export/html/page_tree.h"
#include "export/html/sample_survey.h"
#include "export/job/export_job.h"
#include "query/selection/capture_view.h"
#include "query/selection/wait_events.h"
#include "stackpack/reader.h"

namespace stackpack::exporting {

namespace {

/// What is kept of a file that was read.
struct ReadFile {
  std::uint64_t samples = 0;
  bool timed = false;
  query::TimeRange range;
  std::optional<std::uint64_t> wall_ns;        // of the first sample
  std::vector<std::uint32_t> thread_of_track;  // rows of its survey
  std::vector<std::uint32_t> labels_of_track;  // numbers of LabelRows
  std::vector<std::uint32_t> row_of_event;     // of the joint content, by row of its event table
};

class JointPage {
 public:
  JointPage(std::span<const std::string> paths, const ExportOptions& options,
            const std::string& scratch_directory)
      : paths_(paths),
        options_(options),
        scratch_directory_(scratch_directory),
        labels_(file_labels(paths)),
        files_(paths.size()) {}

  Status read() {
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const Status status =
          with_file(i, [&](ExportJob& job, PageTree& tree) { return add_file(i, job, tree); });
      if (!status) {
        return status;
      }
    }
    std::uint64_t samples = 0;
    for (const ReadFile& file : files_) {
      core::add_saturating(samples, file.samples);
    }
    if (samples == 0 && !options_.filter.empty()) {
      return Error{ErrorCode::kUsage, kNoOffset,
                   "export: no sample of the files is selected by these filters"};
    }
    report_.samples = samples;
    events_ = joint_.hand_over(content_);
    content_.threads = threads_.choose();
    add_all_facts();
    return add_timeline();
  }

  Status write(ExportOutput& out, ExportReport& report) {
    report = report_;
    report_weights(content_, report);
    return write_page(content_, out);
  }

 private:
  using TakeFile = std::function<Status(ExportJob&, PageTree&)>;

  // The file with its samples added up. Errors have its number.
  Status with_file(std::size_t number, const TakeFile& take) {
    const auto status = [&]() -> Status {
      const auto reader = Reader::open(paths_[number]);
      if (!reader) {
        return reader.error();
      }
      const auto view = query::view_for(**reader, options_.filter);
      if (!view) {
        return view.error();
      }
      const auto selection =
          query::SampleSelection::create(*view, options_, {.labels = true, .event_key = {}});
      if (!selection) {
        return selection.error();
      }
      ExportJob job{**selection, options_, scratch_directory_, {}};
      PageTree tree(job, PageTree::Weights::kAll);
      const Status counted = tree.read();
      return counted ? take(job, tree) : counted;
    }();
    if (status) {
      return status;
    }
    Error error = status.error();
    error.part = static_cast<std::uint32_t>(number);
    return error;
  }

  Status add_file(std::size_t number, ExportJob& job, PageTree& tree) {
    PageContent content;
    tree.move_to(content);
    const auto nodes = joint_.add_tree(content);
    if (!nodes) {
      return nodes.error();
    }
    ReadFile& file = files_[number];
    const std::vector<std::uint32_t> rows = joint_.add_weights(content, *nodes, tree.events());
    file.row_of_event = rows_of_events(tree, job.view().events.size());
    for (std::uint32_t& row : file.row_of_event) {
      row = row == kNoEventRow ? row : rows[row];
    }
    auto survey = survey_samples(job.selection);
    if (!survey) {
      return survey.error();
    }
    file.samples = survey->samples;
    file.timed = has_times(job.selection);
    file.range = job.selection.time_range();
    file.wall_ns = job.selection.wall_ns(file.range.first_ns);
    events_left_out_ += tree.events_left_out();
    add_page_facts(job, *survey, content);
    add_file_facts(content, labels_[number], file_facts_);
    threads_.add(*survey, labels_[number]);
    file.thread_of_track = std::move(survey->thread_of_track);
    auto labels = label_rows_.add(job.selection, survey->samples_of_track);
    if (labels) {
      file.labels_of_track = std::move(*labels);
    }
    return labels ? Status{} : labels.error();
  }

  void add_all_facts() {
    add_joint_facts(labels_, {report_.samples, threads_.count(), !options_.filter.empty()},
                    content_);
    content_.facts.insert(content_.facts.end(), file_facts_.facts.begin(), file_facts_.facts.end());
    content_.losses = std::move(file_facts_.losses);
    content_.files = {labels_};
    if (threads_.left_out() != 0) {
      content_.losses.push_back(
          {"threads_not_told_apart", threads_.left_out(), "threads with few samples stand as one"});
    }
    events_left_out_ += joint_.events_left_out();
    if (events_left_out_ != 0) {
      content_.losses.push_back({"events_not_in_page", events_left_out_,
                                 "events that this page has no room for; --event chooses"});
    }
  }

  // No times when a file with samples has none: figures over time would not be those of all.
  Status add_timeline() {
    bool any = false;
    bool timed = true;
    for (const ReadFile& file : files_) {
      timed = timed && (file.samples == 0 || file.timed);
      any = any || file.samples != 0;
    }
    if (!timed) {
      content_.facts.push_back({"Timeline", "none, since some captures hold counts"});
    }
    const query::TimeRange range = any && timed ? lay_out() : query::TimeRange{};
    timed = range.first_ns != range.last_ns;
    if (label_rows_.any()) {
      label_rows_.choose();
      splits_by_labels_ = true;
      if (const Status read = read_timeline(range, timed); !read) {
        return read;
      }
      if (content_.timeline && label_rows_.fits()) {
        content_.labels = label_rows_.page();
      } else {
        content_.timeline.reset();
      }
      splits_by_labels_ = false;
    }
    const Status read = timed && !content_.timeline ? read_timeline(range, timed) : Status{};
    add_label_facts(label_rows_, content_);
    return read;
  }

  Status read_timeline(const query::TimeRange& range, bool timed) {
    auto timeline = page_timeline({content_, events_, range, report_.samples, timed},
                                  [this](const TakeSource& take) { return each_source(take); });
    if (!timeline) {
      return timeline.error();
    }
    content_.timeline = std::move(*timeline);
    if (content_.timeline && timed) {
      content_.timeline->resolution +=
          by_date_ ? "; captures by their dates" : "; each capture begins at 0";
    }
    return {};
  }

  // Captures that ran about the same time, by the dates that they know, lie so; others would be
  // thin lines far from each other, so each begins at 0. The range of all.
  query::TimeRange lay_out() {
    constexpr std::uint64_t kMostEmptiness = 4;
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t last = 0;
    std::uint64_t covered = 0;
    std::uint64_t longest = 0;
    by_date_ = true;
    for (const ReadFile& file : files_) {
      if (file.samples == 0) {
        continue;
      }
      const std::uint64_t duration = file.range.last_ns - file.range.first_ns;
      core::add_saturating(covered, duration);
      longest = std::max(longest, duration);
      by_date_ = by_date_ && file.wall_ns.has_value();
      first = std::min(first, file.wall_ns.value_or(0));
      last = std::max(last, core::saturating_sum(file.wall_ns.value_or(0), duration));
    }
    by_date_ = by_date_ && (last - first) / kMostEmptiness <= covered;
    return by_date_ ? query::TimeRange{first, last} : query::TimeRange{0, longest};
  }

  Status each_source(const TakeSource& take) {
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const Status status = with_file(
          i, [&](ExportJob& job, PageTree& tree) { return take_again(i, job, tree, take); });
      if (!status) {
        return status;
      }
    }
    return {};
  }

  Status take_again(std::size_t number, ExportJob& job, PageTree& tree, const TakeSource& take) {
    const ReadFile& file = files_[number];
    const std::uint32_t known_nodes = joint_.node_count();
    const std::size_t known_functions = joint_.function_count();
    PageContent content;
    tree.move_to(content);
    const auto nodes = joint_.add_tree(content);
    if (!nodes) {
      return nodes.error();
    }
    if (joint_.node_count() != known_nodes || joint_.function_count() != known_functions ||
        job.selection.tracks().size() != file.thread_of_track.size() ||
        job.view().events.size() != file.row_of_event.size()) {
      return Error{ErrorCode::kIo, kNoOffset, "export: the file changed while it was read"};
    }
    const std::vector<std::uint32_t> rows = threads_.rows_of_file(number);
    std::vector<std::uint32_t> thread_of_track(file.thread_of_track);
    for (std::uint32_t& thread : thread_of_track) {
      thread = rows[thread];
    }
    if (splits_by_labels_) {
      thread_of_track = label_rows_.rows_of(thread_of_track, file.labels_of_track);
    }
    TimelineSource source{job.selection,     tree,   thread_of_track,
                          file.row_of_event, *nodes, shift_of(file)};
    return take(source);
  }

  // Times wrap: the sum is right all the same.
  [[nodiscard]] std::uint64_t shift_of(const ReadFile& file) const {
    return (by_date_ ? file.wall_ns.value_or(0) : 0) - file.range.first_ns;
  }

  std::span<const std::string> paths_;
  const ExportOptions& options_;
  const std::string& scratch_directory_;
  std::vector<std::string> labels_;
  std::vector<ReadFile> files_;
  JointContent joint_;
  JointThreads threads_;
  LabelRows label_rows_;
  bool splits_by_labels_ = false;  // the timeline
  PageContent file_facts_;         // facts and losses of the files only
  PageContent content_;
  std::vector<EventMeasures> events_;
  std::size_t events_left_out_ = 0;
  bool by_date_ = false;
  ExportReport report_;
};

}  // namespace

Status write_joint_page(std::span<const std::string> paths, const ExportOptions& options,
                        const std::string& scratch_directory, ExportOutput& out,
                        ExportReport& report) {
  JointPage page(paths, options, scratch_directory);
  const Status status = page.read();
  return status ? page.write(out, report) : status;
}

}  // namespace stackpack::exporting
