// The table and the JSON of `waits`.
#pragma once

#include <string>

#include "app/listing/wait_sums.h"
#include "cli/arguments.h"

namespace stackpack::cli {

/// Adds the table to `out`: a line a thread, those that waited longest first, and sums.
void append_wait_table(std::string& out, const app::WaitTable& table,
                       const WaitsArguments& arguments);

/// Adds one object of JSON to `out`, with all threads in the order of the table.
void append_wait_json(std::string& out, const app::WaitTable& table,
                      const WaitsArguments& arguments);

}  // namespace stackpack::cli
