// The page: docs/page-format.md.

#include <utility>

#include "export/export_job.h"
#include "export/html/page_content.h"
#include "export/html/page_facts.h"
#include "export/html/page_file.h"
#include "export/html/page_timeline.h"
#include "export/html/page_tree.h"
#include "export/html/sample_survey.h"
#include "export/selection/saturating.h"

namespace stackpack::exporting {

namespace {

// Callstacks that samples end at.
std::uint64_t distinct_callstacks(const PageContent& content) {
  DistinctCounter distinct;
  for (const auto& measure : content.self.front()) {
    for (const NodeValue& own : measure) {
      distinct.add(own.node);
    }
  }
  return distinct.count();
}

}  // namespace

Status write_html(ExportJob& job, ExportOutput& out) {
  PageContent content;
  PageTree tree(job);
  if (const Status status = tree.read(); !status) {
    return status;
  }
  tree.move_to(content);
  auto survey = survey_samples(job.selection);
  if (!survey) {
    return survey.error();
  }
  auto timeline = page_timeline(job, tree, content, *survey);
  if (!timeline) {
    return timeline.error();
  }
  content.timeline = std::move(*timeline);
  add_page_facts(job, *survey, content);
  content.threads = std::move(survey->threads);
  if (tree.events_left_out() != 0) {
    content.losses.push_back({"events_not_in_page", tree.events_left_out(),
                              "events that this page has no room for; --event chooses"});
  }
  job.report.samples = survey->samples;
  job.report.stacks = distinct_callstacks(content);
  if (!content.measures.empty()) {
    for (const NodeValue& own : content.self.front().front()) {
      job.report.weight = saturating_sum(job.report.weight, own.value);
    }
  }
  return write_page(content, out);
}

}  // namespace stackpack::exporting
