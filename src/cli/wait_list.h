// The lines of `waits --list`.
#pragma once

#include "app/listing/text_output.h"
#include "cli/arguments.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::cli {

/// Lists the runs that fit: a line of names, a line a run. Errors: those of the reader and of
/// `out`; kUsage: a file without intervals.
Status list_wait_runs(const Reader& reader, const WaitsArguments& arguments, app::TextOutput& out);

}  // namespace stackpack::cli
