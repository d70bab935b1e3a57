// The page: docs/page-format.md.

#include <utility>
#include <vector>

#include "bytes/utf8.h"
#include "export/html/lane_reading.h"
#include "export/html/page_content.h"
#include "export/html/page_facts.h"
#include "export/html/page_file.h"
#include "export/html/page_timeline.h"
#include "export/html/page_tree.h"
#include "export/html/sample_survey.h"
#include "export/job/export_job.h"

namespace stackpack::exporting {

namespace {

// Nothing where the samples have no times.
Result<std::optional<PageTimeline>> timeline_of(ExportJob& job, PageTree& tree,
                                                const PageContent& content,
                                                const SampleSurvey& survey) {
  const query::TimeRange range = job.selection.time_range();
  if (!has_times(job.selection) || range.first_ns == range.last_ns) {
    return std::optional<PageTimeline>();
  }
  std::vector<EventMeasures> events;
  for (const PageTree::EventRow& row : tree.events()) {
    events.push_back(row.measures);
  }
  const auto rows = rows_of_events(tree, job.view().events.size());
  TimelineSource source{job.selection, tree, survey.thread_of_track, rows};
  return page_timeline({content, events, range, tree.samples()},
                       [&](const TakeSource& take) { return take(source); });
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
  auto timeline = timeline_of(job, tree, content, *survey);
  if (!timeline) {
    return timeline.error();
  }
  content.timeline = std::move(*timeline);
  add_page_facts(job, *survey, content);
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
