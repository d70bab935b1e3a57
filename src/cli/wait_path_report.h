// What `waits --path` prints.
#pragma once

#include "app/listing/text_output.h"
#include "cli/arguments.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::cli {

/// Whom the thread waited for: with `list` its steps by time, else sums of them, the largest first.
/// Errors: those of the reader, of `out` and of app::find_wait_path.
Status report_wait_path(const Reader& reader, const WaitsArguments& arguments,
                        app::TextOutput& out);

}  // namespace stackpack::cli
