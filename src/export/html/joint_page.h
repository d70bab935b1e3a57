#pragma once

#include <span>
#include <string>

#include "export/output/export_output.h"
#include "stackpack/export.h"
#include "stackpack/result.h"

namespace stackpack::exporting {

/// Writes one page of several files, which are opened one after the other, and once more for the
/// timeline. Fills in the report, but for its output_bytes.
/// `scratch_directory`: where nameless temporary files may be made.
/// Errors: as export_page.
Status write_joint_page(std::span<const std::string> paths, const ExportOptions& options,
                        const std::string& scratch_directory, ExportOutput& out,
                        ExportReport& report);

}  // namespace stackpack::exporting
