#pragma once

#include "export/html/page_content.h"
#include "stackpack/export.h"

namespace stackpack::exporting {

/// Fills in the weight, that of the first measure, and the distinct callstacks that samples of the
/// first side end at.
void report_weights(const PageContent& content, ExportReport& report);

}  // namespace stackpack::exporting
