// Source lines with their samples, as tables of a page.
#pragma once

#include <string>
#include <vector>

#include "stackpack/export.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::cli {

/// A table for each file of each function that has lines in files below `folders`, the functions
/// with most self first: 40 tables at most, of 400 lines each. A line without samples is there when
/// a near one has some. Figures are those of `annotate` with the same filters.
/// Errors: as app::annotate.
Result<std::vector<PageTable>> source_tables(const Reader& reader, const ExportOptions& filters,
                                             const std::vector<std::string>& folders);

}  // namespace stackpack::cli
