#pragma once

#include <string>
#include <string_view>

#include "export/html/page_content.h"
#include "export/html/sample_survey.h"
#include "export/job/export_job.h"
#include "stackpack/export.h"
#include "stackpack/model.h"

namespace stackpack::exporting {

/// What a page is headed with: the recorded program and its arguments, without the recorder and
/// without folders; of a machine that was recorded during a `sleep` the recorder's command; without
/// a command the process with most samples and how many others there are; at last the kind of
/// capture.
std::string page_title(std::string_view command, std::string_view kind, const SampleSurvey& survey);

/// What a counter of losses is called in a page: its name in words, and of what kind it is.
std::string loss_text(const LossCounter& loss);

/// Title, facts, and what is lost or incomplete. Nothing of when or where the page was made.
void add_page_facts(const ExportJob& job, const SampleSurvey& survey, PageContent& content);

/// Fills in the weight, that of the first measure, and the distinct callstacks that samples of the
/// first side end at.
void report_weights(const PageContent& content, ExportReport& report);

}  // namespace stackpack::exporting
