// mem as text and as JSON.
#pragma once

#include <string>

#include "app/analysis/memory_report.h"
#include "cli/arguments.h"

namespace stackpack::cli {

void append_memory_table(std::string& out, const app::MemoryReport& report);
/// The same with one table, of variables.
void append_variable_table(std::string& out, const app::MemoryReport& report);
void append_memory_json(std::string& out, const app::MemoryReport& report,
                        const EventReportArguments& arguments);

}  // namespace stackpack::cli
