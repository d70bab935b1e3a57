// Source lines, and gc, exceptions, io and jit, as tables of a page.
#pragma once

#include <string>
#include <vector>

#include "stackpack/export.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::cli {

/// Those of source_tables(), then tables of what a file's events have values of; none where it has
/// no values. Each of these has at most 200 rows, and its note says by which command of `file` the
/// others are shown. Errors: as source_tables() and Reader::event_values().
Result<std::vector<PageTable>> page_tables(const Reader& reader, const std::string& file,
                                           const ExportOptions& filters,
                                           const std::vector<std::string>& source_folders,
                                           const std::string& root);

}  // namespace stackpack::cli
