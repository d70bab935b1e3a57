// gc, exceptions and io as text and as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "app/analysis/exception_report.h"
#include "app/analysis/gc_report.h"
#include "app/analysis/io_report.h"
#include "app/analysis/runtime_reports.h"
#include "cli/arguments.h"

namespace stackpack::cli {

/// Nanoseconds in ms, with three digits behind the point.
std::string ms_text(std::uint64_t ns);
/// Says how many rows of a table are not shown; nothing where all are.
void append_more(std::string& out, std::size_t all, std::size_t shown);

void append_gc_table(std::string& out, const app::GcReport& report);
void append_gc_json(std::string& out, const app::GcReport& report,
                    const EventReportArguments& arguments);
void append_exception_table(std::string& out, const app::ExceptionReport& report);
void append_exception_json(std::string& out, const app::ExceptionReport& report,
                           const EventReportArguments& arguments);
void append_jit_table(std::string& out, const app::JitReport& report);
void append_jit_json(std::string& out, const app::JitReport& report,
                     const EventReportArguments& arguments);
/// Neither operations nor memory that was held.
bool has_no_io(const app::IoReport& report);
void append_io_table(std::string& out, const app::IoReport& report);
void append_io_json(std::string& out, const app::IoReport& report,
                    const EventReportArguments& arguments);

}  // namespace stackpack::cli
