#pragma once

#include <string>
#include <string_view>

#include "export/html/sample_survey.h"

namespace stackpack::exporting {

/// What a page is headed with: the recorded program and its arguments, without the recorder and
/// without folders; of a machine that was recorded during a `sleep` the recorder's command; without
/// a command the process with most samples and how many others there are; at last the kind of
/// capture.
std::string page_title(std::string_view command, std::string_view kind, const SampleSurvey& survey);

}  // namespace stackpack::exporting
