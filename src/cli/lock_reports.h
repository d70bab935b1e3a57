// locks as text and as JSON, and its list.
#pragma once

#include <cstdint>
#include <string>

#include "app/analysis/lock_report.h"
#include "app/listing/text_output.h"
#include "cli/arguments.h"
#include "stackpack/reader.h"

namespace stackpack::cli {

void append_lock_table(std::string& out, const app::LockReport& report);
void append_lock_json(std::string& out, const app::LockReport& report,
                      const EventReportArguments& arguments);

/// A line a wait; `found`: how many there were, listed or not. Errors: those of the reader and of
/// `out`.
Status list_lock_waits(const Reader& reader, const EventReportArguments& arguments,
                       app::TextOutput& out, std::uint64_t& found);

}  // namespace stackpack::cli
