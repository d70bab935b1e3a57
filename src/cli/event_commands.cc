// gc, exceptions, info, io, jit, locks, mem: what the values of events and the fields of samples
// say.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/analysis/memory_report.h"
#include "app/convert/packed_capture.h"
#include "app/listing/text_output.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/event_command_text.h"
#include "cli/event_reports.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/info_report.h"
#include "cli/json_text.h"
#include "cli/lock_reports.h"
#include "cli/next_commands.h"
#include "cli/shown_capture.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

// mem as text and as JSON.

using app::MemorySum;

std::string mean_text(const MemorySum& sum) {
  return sum.samples == 0 || sum.latency == 0
             ? "-"
             : fmt::format("{:.1f}",
                           static_cast<double>(sum.latency) / static_cast<double>(sum.samples));
}

void append_memory_heading(std::string& out, std::string_view what) {
  out += fmt::format("\n{:>10} {:>8} {:>14} {:>8} {:>10} {:>10} {:>9}  {}\n", "samples", "share",
                     "latency", "share", "mean", "longest", "shared", what);
}

void append_memory_sum(std::string& out, const MemorySum& sum, const MemorySum& all) {
  out += fmt::format("{:>10} {:>8} {:>14} {:>8} {:>10} {:>10} {:>9}  ", grouped(sum.samples),
                     human_share(sum.samples, all.samples), grouped(sum.latency),
                     human_share(sum.latency, all.latency), mean_text(sum),
                     grouped(sum.most_latency), grouped(sum.shared()));
}

void append_line(std::string& out, const app::CacheLine& line) {
  std::string owner;
  append_escaped(owner, line.physical ? "physical" : line.process);
  out += fmt::format("0x{:x}{}{}: {}, {}\n", line.address, owner.empty() ? "" : " ", owner,
                     counted(line.threads, "thread"), counted(line.cpus, "cpu"));
  for (const app::LineUse& use : line.uses) {
    std::string name;
    append_escaped(name, use.function);
    out += fmt::format("{:>12}+{}: {} loads, {} stores, {} shared, {}, {}  {}\n", "", use.offset,
                       grouped(use.sum.loads), grouped(use.sum.stores), grouped(use.sum.shared()),
                       counted(use.threads, "thread"), counted(use.cpus, "cpu"), name);
  }
}

void append_memory_total(std::string& out, const app::MemoryReport& report) {
  out += fmt::format("{}, {} loads, {} stores, latency {} cycles\n",
                     counted(report.all.samples, "sample"), grouped(report.all.loads),
                     grouped(report.all.stores), grouped(report.all.latency));
}

void write_memory_sum(JsonText& json, const MemorySum& sum) {
  json.field("samples", sum.samples);
  json.field("loads", sum.loads);
  json.field("stores", sum.stores);
  json.field("latency", sum.latency);
  json.field("longest_latency", sum.most_latency);
  json.field("shared_locally", sum.local_shared);
  json.field("shared_remotely", sum.remote_shared);
}

// An array of objects: `write` puts in what a row has besides its sums.
template <typename Row, typename Write>
void write_memory_rows(JsonText& json, std::string_view key, std::span<const Row> rows,
                       const Write& write) {
  json.key(key);
  json.begin_array();
  for (const Row& row : rows) {
    json.begin_object();
    write(row);
    write_memory_sum(json, row.sum);
    json.end_object();
  }
  json.end_array();
}

void write_lines(JsonText& json, std::span<const app::CacheLine> lines) {
  write_memory_rows(json, "cache_lines", lines, [&json](const app::CacheLine& line) {
    json.field("address", line.address);
    json.field("physical", line.physical);
    json.field("process", line.process);
    json.field("threads", line.threads);
    json.field("cpus", line.cpus);
    write_memory_rows(json, "uses", std::span<const app::LineUse>(line.uses),
                      [&json](const app::LineUse& use) {
                        json.field("offset", use.offset);
                        json.field("function", use.function);
                        json.field("threads", use.threads);
                        json.field("cpus", use.cpus);
                      });
  });
}

void append_memory_table(std::string& out, const app::MemoryReport& report) {
  append_memory_total(out, report);
  append_memory_heading(out, "operation, source of data");
  for (const app::MemorySource& row : report.sources) {
    append_memory_sum(out, row.sum, report.all);
    out += row.operation + ", " + row.level + "\n";
  }
  append_memory_heading(out, "function");
  for (const app::MemoryUser& row : report.functions) {
    append_memory_sum(out, row.sum, report.all);
    append_escaped(out, row.function);
    out += '\n';
  }
  append_more(out, report.all_functions, report.functions.size());
  append_memory_heading(out, "callstack");
  for (const app::MemoryUser& row : report.stacks) {
    append_memory_sum(out, row.sum, report.all);
    out += fmt::format("{} ", row.stack);
    append_escaped(out, row.function);
    out += '\n';
  }
  append_more(out, report.all_stacks, report.stacks.size());
  if (report.lines.empty()) {
    return;
  }
  append_memory_heading(out, "cache line");
  for (const app::CacheLine& row : report.lines) {
    append_memory_sum(out, row.sum, report.all);
    append_line(out, row);
  }
  append_more(out, report.all_lines, report.lines.size());
  if (report.untracked != 0) {
    out += fmt::format("{} are in none of the lines: there are too many of them\n",
                       counted(report.untracked, "sample"));
  }
}

// The same with one table, of variables.
void append_variable_table(std::string& out, const app::MemoryReport& report) {
  append_memory_total(out, report);
  append_memory_heading(out, "data symbol, image");
  for (const app::MemoryVariable& row : report.variables) {
    append_memory_sum(out, row.sum, report.all);
    append_escaped(out, row.name);
    out += row.image.empty() ? "" : "  ";
    append_escaped(out, row.image);
    out += '\n';
  }
  append_more(out, report.all_variables, report.variables.size());
}

void append_memory_json(std::string& out, const app::MemoryReport& report,
                        const EventReportArguments& arguments) {
  JsonText json(out);
  json.begin_object();
  write_memory_sum(json, report.all);
  write_memory_rows(json, "sources", std::span<const app::MemorySource>(report.sources),
                    [&json](const app::MemorySource& row) {
                      json.field("operation", row.operation);
                      json.field("level", row.level);
                    });
  write_memory_rows(json, "functions", std::span<const app::MemoryUser>(report.functions),
                    [&json](const app::MemoryUser& row) { json.field("function", row.function); });
  write_memory_rows(json, "callstacks", std::span<const app::MemoryUser>(report.stacks),
                    [&json](const app::MemoryUser& row) {
                      json.field("stack", row.stack);
                      json.field("function", row.function);
                    });
  write_lines(json, report.lines);
  if (report.all_variables != 0) {
    write_memory_rows(json, "symbols", std::span<const app::MemoryVariable>(report.variables),
                      [&json](const app::MemoryVariable& row) {
                        json.field("symbol", row.name);
                        json.field("image", row.image);
                      });
    json.field("symbols_in_all", std::uint64_t{report.all_variables});
  }
  json.field("functions_in_all", std::uint64_t{report.all_functions});
  json.field("callstacks_in_all", std::uint64_t{report.all_stacks});
  json.field("cache_lines_in_all", std::uint64_t{report.all_lines});
  json.field("samples_without_line", report.untracked);
  NextCommands next;
  if (!report.stacks.empty() && report.stacks.front().stack != kNoStack) {
    next.add({"show", arguments.file, std::to_string(report.stacks.front().stack)});
  }
  next.add({"top", arguments.file}, arguments.filter_words);
  std::vector<std::string> words = arguments.filter_words;
  std::size_t left_out = 0;
  if (arguments.by_variable) {
    words.emplace_back("--by=symbol");
    left_out = report.all_variables - report.variables.size();
  } else {
    left_out = std::max({report.all_functions - report.functions.size(),
                         report.all_stacks - report.stacks.size(),
                         report.all_lines - report.lines.size()});
  }
  next.add_longer({"mem", arguments.file}, arguments.limit, left_out, words);
  next.write(json);
  json.end_object();
  out += '\n';
}

// Whether a report has nothing to show, and what to record so that it has.
bool is_empty(const app::GcReport& report) {
  return report.processes.empty();
}
bool is_empty(const app::ExceptionReport& report) {
  return report.rows.empty();
}
bool is_empty(const app::MemoryReport& report) {
  return report.all.samples == 0;
}
bool is_empty(const app::LockReport& report) {
  return report.waits == 0 && report.not_locks == 0;
}
bool is_empty(const InfoReport& /*report*/) {
  return false;
}
bool is_empty(const app::JitReport& report) {
  return report.methods == 0;
}
bool is_empty(const app::IoReport& report) {
  return has_no_io(report);
}

std::string_view what_to_record(EventReportKind kind) {
  switch (kind) {
    case EventReportKind::kGc:
      return "has no events of a garbage collector; dotnet-trace collect --profile gc-verbose "
             "records them";
    case EventReportKind::kExceptions:
      return "has no exceptions of .NET; dotnet-trace collect --providers "
             "Microsoft-Windows-DotNETRuntime:0x8000:2 records them";
    case EventReportKind::kMemory:
      return "has no samples of accesses to memory; perf mem record takes them";
    case EventReportKind::kLocks:
      return "has no waits for locks; dotnet-trace collect --providers "
             "Microsoft-Windows-DotNETRuntime:0x40000004000:4 records those of .NET";
    case EventReportKind::kJit:
      return "has no methods of .NET that were compiled; dotnet-trace collect --providers "
             "Microsoft-Windows-DotNETRuntime:0x10:5 records them";
    case EventReportKind::kInfo:
      break;
    case EventReportKind::kIo:
      return "has no events of disks, files, networks or memory; wpr -start DiskIO -start FileIO "
             "records them";
  }
  return {};
}

// A report as the arguments want it.
template <typename Report, typename Table, typename Json>
Result<EventReportText> text_of(const Result<Report>& report, const EventReportArguments& arguments,
                                const Table& append_table, const Json& append_json) {
  if (!report) {
    return report.error();
  }
  EventReportText result;
  result.lacking = is_empty(*report) ? what_to_record(arguments.kind) : std::string_view();
  if (arguments.json) {
    append_json(result.text, *report, arguments);
  } else {
    append_table(result.text, *report);
  }
  return result;
}

// The list goes out as it is made.
int list_locks(const Reader& reader, const EventReportArguments& arguments,
               const Messages& messages) {
  Result<std::unique_ptr<app::TextOutput>> out = app::TextOutput::open();
  if (!out) {
    messages.error("(standard output)", out.error());
    return exit_code_of(out.error());
  }
  if (arguments.limit != 0 && arguments.is_limited) {
    (*out)->limit_rows(arguments.limit, arguments.json ? app::TextOutput::RowForm::kJson
                                                       : app::TextOutput::RowForm::kLines);
  }
  std::uint64_t found = 0;
  const Status written = list_lock_waits(reader, arguments, **out, found);
  if (found == 0) {
    messages.note(arguments.file, what_to_record(arguments.kind));
  }
  return finish_output(**out, written, arguments.file, messages);
}

Result<EventReportText> memory_text(const Reader& reader, const EventReportArguments& arguments) {
  symbolize::SymbolPlaces places = arguments.capture.naming.places;
  if (arguments.by_variable) {
    if (const Status opened = symbolize::open_bundles(places); !opened) {
      return opened.error();
    }
  }
  return text_of(app::memory_report(reader, arguments.filter, arguments.memory_order,
                                    arguments.limit, arguments.by_variable ? &places : nullptr),
                 arguments, arguments.by_variable ? append_variable_table : append_memory_table,
                 append_memory_json);
}

}  // namespace

Result<EventReportText> event_report_text(const Reader& reader,
                                          const EventReportArguments& arguments) {
  const std::size_t limit = arguments.limit;
  switch (arguments.kind) {
    case EventReportKind::kGc:
      return text_of(app::gc_report(reader, limit), arguments, append_gc_table, append_gc_json);
    case EventReportKind::kExceptions:
      return text_of(app::exception_report(reader, arguments.exception_group, limit), arguments,
                     append_exception_table, append_exception_json);
    case EventReportKind::kLocks:
      return text_of(app::lock_report(reader, arguments.locks, limit), arguments, append_lock_table,
                     append_lock_json);
    case EventReportKind::kMemory:
      return memory_text(reader, arguments);
    case EventReportKind::kJit:
      return text_of(app::jit_report(reader, limit), arguments, append_jit_table, append_jit_json);
    case EventReportKind::kIo:
      return text_of(app::io_report(reader, arguments.order, limit), arguments, append_io_table,
                     append_io_json);
    case EventReportKind::kInfo:
      break;
  }
  const auto append_table = [limit](std::string& out, const InfoReport& report) {
    append_info_table(out, report, limit);
  };
  return text_of(info_report(reader, arguments.file), arguments, append_table, append_info_json);
}

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
  if (arguments.list) {
    return list_locks(reader, arguments, messages);
  }
  const Result<EventReportText> report = event_report_text(reader, arguments);
  if (!report) {
    messages.error(arguments.file, report.error());
    return exit_code_of(report.error());
  }
  if (!report->lacking.empty()) {
    messages.note(arguments.file, report->lacking);
  }
  return print(report->text, messages);
}

}  // namespace stackpack::cli
