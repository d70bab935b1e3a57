// gc, exceptions, io, jit, mem: what the values of events and the fields of samples say.
#include <string>

#include "app/convert/packed_capture.h"
#include "cli/commands.h"
#include "cli/event_reports.h"
#include "cli/exit_codes.h"
#include "cli/memory_texts.h"
#include "cli/shown_capture.h"

namespace stackpack::cli {

namespace {

// Prints a report, or says why there is none.
template <typename Report, typename Table, typename Json>
int print_report(const Result<Report>& report, const EventReportArguments& arguments,
                 const Messages& messages, const Table& append_table, const Json& append_json) {
  if (!report) {
    messages.error(arguments.file, report.error());
    return exit_code_of(report.error());
  }
  std::string text;
  if (arguments.json) {
    append_json(text, *report, arguments);
  } else {
    append_table(text, *report);
  }
  return print(text, messages);
}

int report_memory(const Reader& reader, const EventReportArguments& arguments,
                  const Messages& messages) {
  symbolize::SymbolPlaces places = arguments.capture.naming.places;
  if (arguments.by_variable) {
    if (const Status opened = symbolize::open_bundles(places); !opened) {
      messages.error(arguments.file, opened.error());
      return exit_code_of(opened.error());
    }
  }
  return print_report(
      app::memory_report(reader, arguments.filter, arguments.memory_order, arguments.limit,
                         arguments.by_variable ? &places : nullptr),
      arguments, messages, arguments.by_variable ? append_variable_table : append_memory_table,
      append_memory_json);
}

}  // namespace

int run_event_report(const EventReportArguments& arguments, const Messages& messages) {
  int exit_code = kExitSuccess;
  const auto opened = open_shown(arguments.file, arguments.capture, messages, exit_code);
  if (!opened) {
    return exit_code;
  }
  const Reader& reader = opened->reader();
  if (!opened->is_made() && arguments.capture.symbolize) {
    note_missing_names(arguments.file, reader, messages);
  }
  switch (arguments.kind) {
    case EventReportKind::kGc:
      return print_report(app::gc_report(reader, arguments.limit), arguments, messages,
                          append_gc_table, append_gc_json);
    case EventReportKind::kExceptions:
      return print_report(app::exception_report(reader, arguments.limit), arguments, messages,
                          append_exception_table, append_exception_json);
    case EventReportKind::kMemory:
      return report_memory(reader, arguments, messages);
    case EventReportKind::kJit:
      return print_report(app::jit_report(reader, arguments.limit), arguments, messages,
                          append_jit_table, append_jit_json);
    case EventReportKind::kIo:
      return print_report(app::io_report(reader, arguments.order, arguments.limit), arguments,
                          messages, append_io_table, append_io_json);
  }
  return kExitInternal;
}

}  // namespace stackpack::cli
