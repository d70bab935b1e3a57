#pragma once

#include "export/export_job.h"
#include "export/html/page_content.h"
#include "export/html/sample_survey.h"

namespace stackpack::exporting {

/// Title, facts, and what is lost or incomplete. Nothing of when or where the page was made.
void add_page_facts(const ExportJob& job, const SampleSurvey& survey, PageContent& content);

}  // namespace stackpack::exporting
