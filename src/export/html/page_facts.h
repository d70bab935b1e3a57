#pragma once

#include <string>

#include "export/html/page_content.h"
#include "export/html/sample_survey.h"
#include "export/job/export_job.h"
#include "stackpack/model.h"

namespace stackpack::exporting {

/// What a counter of losses is called in a page: its name in words, and of what kind it is.
std::string loss_text(const LossCounter& loss);

/// Title, facts, and what is lost or incomplete. Nothing of when or where the page was made.
void add_page_facts(const ExportJob& job, const SampleSurvey& survey, PageContent& content);

}  // namespace stackpack::exporting
