#include "export/html/page_report.h"

#include "core/saturating.h"
#include "export/job/export_job.h"

namespace stackpack::exporting {

void report_weights(const PageContent& content, ExportReport& report) {
  DistinctCounter distinct;
  for (const auto& measure : content.self.front()) {
    for (const NodeValue& own : measure) {
      distinct.add(own.node);
    }
  }
  report.stacks = distinct.count();
  if (!content.measures.empty()) {
    for (const NodeValue& own : content.self.front().front()) {
      report.weight = core::saturating_sum(report.weight, own.value);
    }
  }
}

}  // namespace stackpack::exporting
