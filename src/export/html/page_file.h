#pragma once

#include "export/html/page_content.h"
#include "export/output/export_output.h"
#include "stackpack/result.h"

namespace stackpack::exporting {

/// Writes a page: the program that shows it, and its content within. Nothing of the content is ever
/// HTML; all of it is base64.
/// Memory: that of encode_page(). Errors: those of the output.
Status write_page(const PageContent& content, ExportOutput& out);

}  // namespace stackpack::exporting
