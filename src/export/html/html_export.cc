// The page: docs/page-format.md.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bytes/utf8.h"
#include "export/html/lane_reading.h"
#include "export/html/page_content.h"
#include "export/html/page_facts.h"
#include "export/html/page_file.h"
#include "export/html/page_labels.h"
#include "export/html/page_timeline.h"
#include "export/html/page_tree.h"
#include "export/html/sample_survey.h"
#include "export/job/export_job.h"

namespace stackpack::exporting {

namespace {

// `rows`: by track.
Result<std::optional<PageTimeline>> timeline_of(ExportJob& job, PageTree& tree,
                                                const PageContent& content,
                                                std::span<const std::uint32_t> track_rows,
                                                bool timed) {
  std::vector<EventMeasures> events;
  for (const PageTree::EventRow& row : tree.events()) {
    events.push_back(row.measures);
  }
  const auto rows = rows_of_events(tree, job.view().events.size());
  TimelineSource source{job.selection, tree, track_rows, rows};
  return page_timeline({content, events, job.selection.time_range(), tree.samples(), timed},
                       [&](const TakeSource& take) { return take(source); });
}

// Over time where samples have times, and by labels where they have those: with labels, if that is
// not too much.
Status add_timeline(ExportJob& job, PageTree& tree, const SampleSurvey& survey, LabelRows& labels,
                    PageContent& content) {
  const query::TimeRange range = job.selection.time_range();
  const bool timed = has_times(job.selection) && range.first_ns != range.last_ns;
  const auto sets = labels.add(job.selection, survey.samples_of_track);
  if (!sets) {
    return sets.error();
  }
  if (labels.any()) {
    labels.choose();
    const std::vector<std::uint32_t> rows = labels.rows_of(survey.thread_of_track, *sets);
    if (labels.fits()) {
      auto timeline = timeline_of(job, tree, content, rows, timed);
      if (!timeline) {
        return timeline.error();
      }
      content.timeline = std::move(*timeline);
    }
    if (content.timeline) {
      content.labels = labels.page();
    }
  }
  if (timed && !content.timeline) {
    auto timeline = timeline_of(job, tree, content, survey.thread_of_track, timed);
    if (!timeline) {
      return timeline.error();
    }
    content.timeline = std::move(*timeline);
  }
  return {};
}

}  // namespace

Status write_html(ExportJob& job, ExportOutput& out) {
  PageContent content;
  PageTree tree(job);
  LaneReading lanes(job);
  const Status status =
      tree.read([&lanes](query::StackResolver& resolver) { return lanes.survey(resolver); });
  if (!status) {
    return status;
  }
  tree.move_to(content);
  auto survey = survey_samples(job.selection);
  if (!survey) {
    return survey.error();
  }
  LabelRows labels;
  if (const Status added = add_timeline(job, tree, *survey, labels, content); !added) {
    return added;
  }
  add_page_facts(job, *survey, content);
  add_label_facts(labels, content);
  content.tables = job.options.html.tables;
  if (const std::string& path = job.options.source_path; !path.empty()) {
    content.files = {{bytes::valid_utf8(path.substr(path.find_last_of("/\\") + 1))}};
  }
  content.threads = std::move(survey->threads);
  if (tree.events_left_out() != 0) {
    content.losses.push_back({"events_not_in_page", tree.events_left_out(),
                              "events that this page has no room for; --event chooses"});
  }
  job.report.samples = survey->samples;
  report_weights(content, job.report);
  if (const Status added = lanes.add_to(tree, content); !added) {
    return added;
  }
  return write_page(content, out);
}

}  // namespace stackpack::exporting
