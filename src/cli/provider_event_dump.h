#pragma once

#include "app/listing/text_output.h"
#include "cli/arguments.h"
#include "cli/messages.h"
#include "stackpack/result.h"

namespace stackpack::cli {

/// dump --events-of: a line or object for each event of a capture. What could not be decoded is
/// said on standard error.
Status dump_provider_events(const DumpArguments& arguments, const Messages& messages,
                            app::TextOutput& out);

}  // namespace stackpack::cli
