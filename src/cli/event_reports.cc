#include "cli/event_reports.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/next_commands.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

std::string ms_text(std::uint64_t ns) {
  constexpr double kNsPerMs = 1e6;
  return fmt::format("{:.3f}", static_cast<double>(ns) / kNsPerMs);
}

void append_more(std::string& out, std::size_t all, std::size_t shown) {
  if (all > shown) {
    out += fmt::format("({} more; --limit 0 shows all)\n", grouped(all - shown));
  }
}

namespace {

constexpr double kNsPerSecond = 1e9;

std::uint64_t rate_of(std::uint64_t amount, std::uint64_t ns) {
  return ns == 0 ? 0
                 : static_cast<std::uint64_t>(static_cast<double>(amount) * kNsPerSecond /
                                              static_cast<double>(ns));
}

// Generation and reason of collections, with how many there were and their pauses.
using Causes =
    std::map<std::pair<std::uint64_t, std::string>, std::pair<std::uint64_t, std::uint64_t>>;

std::string reason_text(std::uint64_t reason) {
  const std::string_view name = app::gc_reason_name(reason);
  return name == "-" && reason != kNoValue ? fmt::format("reason {}", reason) : std::string(name);
}

Causes causes_of(const app::GcReport& report) {
  Causes causes;
  for (const app::GcProcess& process : report.processes) {
    for (const app::Collection& collection : process.collections) {
      const std::string reason =
          reason_text(collection.reason) + (collection.type == 1 ? ", in the background" : "");
      auto& [count, pause_ns] = causes[{collection.generation, reason}];
      ++count;
      pause_ns += collection.pause_ns;
    }
  }
  return causes;
}

void append_process(std::string& out, const app::GcProcess& process) {
  const std::uint64_t whole_ns = process.recorded_ns;
  append_escaped(out, process.name);
  out += fmt::format("\n  collections {}, paused {} ms ({}) in {}, longest {} ms\n",
                     grouped(process.collections.size()), ms_text(process.pause_ns),
                     human_share(process.pause_ns, whole_ns), counted(process.pauses, "pause"),
                     ms_text(process.longest_ns));
  if (process.other_pauses != 0) {
    out += fmt::format("  suspended for other reasons {}, {} ms\n",
                       counted(process.other_pauses, "time"), ms_text(process.other_pause_ns));
  }
  if (process.allocations != 0) {
    out += fmt::format("  allocated {} ({}/s)\n", human_bytes(process.allocated_bytes),
                       human_bytes(rate_of(process.allocated_bytes, whole_ns)));
  }
  if (process.heap) {
    const app::HeapSizes& heap = *process.heap;
    out += fmt::format(
        "  heap after the last: {} (generations {}, {}, {}; large {}; pinned {}); most {}\n",
        human_bytes(heap.total()), human_bytes(heap.generations[0]),
        human_bytes(heap.generations[1]), human_bytes(heap.generations[2]), human_bytes(heap.large),
        human_bytes(heap.pinned), human_bytes(process.largest_heap));
  }
}

void append_allocations(std::string& out, std::string_view title,
                        std::span<const app::ValueSum> sums, std::size_t all, std::uint64_t whole) {
  if (sums.empty()) {
    return;
  }
  out += fmt::format("\n{:>12} {:>8} {:>9}  allocated by {}\n", "bytes", "share", "samples", title);
  for (const app::ValueSum& sum : sums) {
    out += fmt::format("{:>12} {:>8} {:>9}  ", human_bytes(sum.bytes),
                       human_share(sum.bytes, whole), grouped(sum.count));
    append_escaped(out, sum.name);
    out += '\n';
  }
  append_more(out, all, sums.size());
}

void write_sums(JsonText& json, std::string_view key, std::span<const app::ValueSum> sums,
                bool durations) {
  json.key(key);
  json.begin_array();
  for (const app::ValueSum& sum : sums) {
    json.begin_object();
    json.field("name", sum.name);
    json.field("count", sum.count);
    json.field("bytes", sum.bytes);
    if (durations) {
      json.field("latency_ns", sum.ns);
      json.field("longest_ns", sum.most_ns);
    }
    json.end_object();
  }
  json.end_array();
}

void optional_field(JsonText& json, std::string_view name, std::uint64_t value) {
  json.key(name);
  if (value == kNoValue) {
    json.value(nullptr);
  } else {
    json.value(value);
  }
}

void write_collections(JsonText& json, const app::GcProcess& process) {
  json.key("collections");
  json.begin_array();
  for (const app::Collection& collection : process.collections) {
    json.begin_object();
    json.field("number", collection.number);
    optional_field(json, "generation", collection.generation);
    json.field("reason", reason_text(collection.reason));
    json.field("background", collection.type == 1);
    json.field("from_ns", collection.from_ns);
    optional_field(json, "to_ns", collection.to_ns);
    json.field("pause_ns", collection.pause_ns);
    json.end_object();
  }
  json.end_array();
}

void write_process(JsonText& json, const app::GcProcess& process) {
  json.begin_object();
  json.field("process", process.name);
  json.field("pid", process.pid);
  json.field("recorded_ns", process.recorded_ns);
  json.field("pauses", process.pauses);
  json.field("pause_ns", process.pause_ns);
  json.field("longest_pause_ns", process.longest_ns);
  json.field("other_suspensions", process.other_pauses);
  json.field("other_suspension_ns", process.other_pause_ns);
  json.field("allocated_bytes", process.allocated_bytes);
  json.field("largest_heap_bytes", process.largest_heap);
  if (process.heap) {
    json.key("heap");
    json.begin_object();
    json.field("gen0_bytes", process.heap->generations[0]);
    json.field("gen1_bytes", process.heap->generations[1]);
    json.field("gen2_bytes", process.heap->generations[2]);
    json.field("large_bytes", process.heap->large);
    json.field("pinned_bytes", process.heap->pinned);
    json.field("promoted_bytes", process.heap->promoted);
    json.end_object();
  }
  write_collections(json, process);
  json.end_object();
}

void append_operations(std::string& out, std::string_view title,
                       std::span<const app::ValueSum> sums) {
  if (sums.empty()) {
    return;
  }
  out += fmt::format("{}{:>12} {:>9} {:>12} {:>12}  {}\n", out.empty() ? "" : "\n", "bytes",
                     "count", "latency ms", "longest ms", title);
  for (const app::ValueSum& sum : sums) {
    out += fmt::format("{:>12} {:>9} {:>12} {:>12}  ", human_bytes(sum.bytes), grouped(sum.count),
                       ms_text(sum.ns), ms_text(sum.most_ns));
    append_escaped(out, sum.name);
    out += '\n';
  }
}

void append_held(std::string& out, std::string_view title, std::string_view operation,
                 const app::HeldReport& held) {
  if (held.operations == 0) {
    return;
  }
  out += fmt::format("{}{}: {} held at the end, {} at most, by {}\n", out.empty() ? "" : "\n",
                     title, human_bytes(held.bytes), human_bytes(held.most_bytes),
                     counted(held.operations, operation));
  if (held.functions.empty()) {
    return;
  }
  out += fmt::format("{:>12} {:>8} {:>9}  held for\n", "bytes", "share", "ranges");
  for (const app::ValueSum& sum : held.functions) {
    out += fmt::format("{:>12} {:>8} {:>9}  ", human_bytes(sum.bytes),
                       human_share(sum.bytes, held.bytes), grouped(sum.count));
    append_escaped(out, sum.name);
    out += '\n';
  }
  append_more(out, held.all_functions, held.functions.size());
}

void write_held(JsonText& json, std::string_view key, const app::HeldReport& held) {
  json.key(key);
  json.begin_object();
  json.field("operations", held.operations);
  json.field("held_bytes", held.bytes);
  json.field("most_held_bytes", held.most_bytes);
  write_sums(json, "functions", held.functions, false);
  json.key("callstacks");
  json.begin_array();
  for (const app::HeldStack& row : held.stacks) {
    json.begin_object();
    if (row.stack != kNoStack) {
      json.field("stack", row.stack);
    }
    json.field("pid", row.pid);
    json.field("bytes", row.bytes);
    json.field("ranges", row.ranges);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void append_compiled(std::string& out, std::string_view title,
                     std::span<const app::ValueSum> sums) {
  if (sums.empty()) {
    return;
  }
  out += fmt::format("\n{:>12} {:>12} {:>9} {:>12}  {}\n", "ms", "longest ms", "methods", "code",
                     title);
  for (const app::ValueSum& sum : sums) {
    out += fmt::format("{:>12} {:>12} {:>9} {:>12}  ", ms_text(sum.ns), ms_text(sum.most_ns),
                       grouped(sum.count), human_bytes(sum.bytes));
    append_escaped(out, sum.name);
    out += '\n';
  }
}

void write_compiled(JsonText& json, std::string_view key, std::span<const app::ValueSum> sums) {
  json.key(key);
  json.begin_array();
  for (const app::ValueSum& sum : sums) {
    json.begin_object();
    json.field("name", sum.name);
    json.field("count", sum.count);
    json.field("code_bytes", sum.bytes);
    json.field("duration_ns", sum.ns);
    json.field("longest_ns", sum.most_ns);
    json.end_object();
  }
  json.end_array();
}

constexpr std::size_t kMostCatchers = 3;

void append_exception(std::string& out, const app::ThrownException& row, bool knows_catches) {
  const auto shown = [&out](const std::string& text, std::string_view otherwise) {
    append_escaped(out, text.empty() ? otherwise : std::string_view(text));
  };
  out += fmt::format("{:>9}  ", grouped(row.count));
  shown(row.type, "(unknown type)");
  if (row.messages > 1) {
    out += fmt::format(" ({} messages)", grouped(row.messages));
  } else if (!row.message.empty()) {
    out += ": ";
    append_escaped(out, row.message);
  }
  out += "\n             ";
  shown(row.function, "(no callstack)");
  out += row.functions > 1 ? fmt::format(" ({} sites)\n", grouped(row.functions)) : "\n";
  for (std::size_t i = 0; i < std::min(row.catchers.size(), kMostCatchers); ++i) {
    out += fmt::format("             caught {} by ", grouped(row.catchers[i].second));
    shown(row.catchers[i].first, "(unknown method)");
    out += '\n';
  }
  if (knows_catches && row.caught < row.count) {
    out += fmt::format("             not caught {}\n", grouped(row.count - row.caught));
  }
}

void write_exception(JsonText& json, const app::ThrownException& row, bool knows_catches) {
  json.begin_object();
  json.field("type", row.type);
  json.field("message", row.message);
  json.field("function", row.function);
  json.field("count", row.count);
  json.field("first_ns", row.first_ns);
  json.field("messages", std::uint64_t{row.messages});
  json.field("functions", std::uint64_t{row.functions});
  json.field("rethrown", row.rethrown);
  if (knows_catches) {
    json.field("caught", row.caught);
    json.key("caught_by");
    json.begin_array();
    for (const auto& [method, count] : row.catchers) {
      json.begin_object();
      json.field("method", method);
      json.field("count", count);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
}

// Where the samples are, of the events that the report is made of where there are samples of them.
void write_event_next(JsonText& json, const EventReportArguments& arguments,
                      std::string_view command, std::size_t left_out, bool has_types = false) {
  NextCommands next;
  next.add_longer({command, arguments.file}, arguments.limit, left_out);
  if (has_types) {
    next.add({"top", arguments.file, "--by=type"});
  }
  next.add({"top", arguments.file});
  next.add({"dump", arguments.file, "--event-values", "--limit=20"});
  next.write(json);
}

}  // namespace

void append_jit_table(std::string& out, const app::JitReport& report) {
  out += fmt::format("{} compiled in {} ms: {} of code from {} of IL\n",
                     counted(report.methods, "method"), ms_text(report.ns),
                     human_bytes(report.code_bytes), human_bytes(report.il_bytes));
  append_compiled(out, "tier", report.tiers);
  append_compiled(out, "process", report.processes);
  append_compiled(out, "method", report.slowest);
  append_more(out, report.all_methods, report.slowest.size());
  append_compiled(out, "called by", report.callers);
  append_more(out, report.all_callers, report.callers.size());
}

void append_jit_json(std::string& out, const app::JitReport& report,
                     const EventReportArguments& arguments) {
  JsonText json(out);
  json.begin_object();
  json.field("count", report.methods);
  json.field("duration_ns", report.ns);
  json.field("code_bytes", report.code_bytes);
  json.field("il_bytes", report.il_bytes);
  write_compiled(json, "tiers", report.tiers);
  write_compiled(json, "processes", report.processes);
  write_compiled(json, "methods", report.slowest);
  write_compiled(json, "callers", report.callers);
  json.field("methods_in_all", report.all_methods);
  json.field("callers_in_all", report.all_callers);
  write_event_next(json, arguments, "jit",
                   std::max(report.all_methods - report.slowest.size(),
                            report.all_callers - report.callers.size()));
  json.end_object();
  out += '\n';
}

void append_gc_table(std::string& out, const app::GcReport& report) {
  if (report.processes.empty()) {
    out += "0 collections\n";
  }
  for (const app::GcProcess& process : report.processes) {
    append_process(out, process);
  }
  const Causes causes = causes_of(report);
  if (!causes.empty()) {
    out +=
        fmt::format("\n{:>12} {:>12}  {:<12} reason\n", "collections", "paused ms", "generation");
  }
  for (const auto& [cause, sums] : causes) {
    const std::string generation = cause.first == kNoValue ? "-" : std::to_string(cause.first);
    out += fmt::format("{:>12} {:>12}  {:<12} {}\n", grouped(sums.first), ms_text(sums.second),
                       generation, cause.second);
  }
  std::uint64_t whole = 0;
  for (const app::GcProcess& process : report.processes) {
    whole += process.allocated_bytes;
  }
  append_allocations(out, "type", report.types, report.all_types, whole);
  append_allocations(out, "function", report.functions, report.all_functions, whole);
}

void append_gc_json(std::string& out, const app::GcReport& report,
                    const EventReportArguments& arguments) {
  JsonText json(out);
  json.begin_object();
  json.field("from_ns", report.from_ns);
  json.field("to_ns", report.to_ns);
  json.key("processes");
  json.begin_array();
  for (const app::GcProcess& process : report.processes) {
    write_process(json, process);
  }
  json.end_array();
  write_sums(json, "allocations_by_type", report.types, false);
  write_sums(json, "allocations_by_function", report.functions, false);
  json.field("types_in_all", report.all_types);
  json.field("functions_in_all", report.all_functions);
  write_event_next(json, arguments, "gc",
                   std::max(report.all_types - report.types.size(),
                            report.all_functions - report.functions.size()),
                   !report.types.empty());
  json.end_object();
  out += '\n';
}

void append_exception_table(std::string& out, const app::ExceptionReport& report) {
  out += counted(report.count, "exception");
  if (report.knows_catches) {
    out += fmt::format(", {} caught, {} not", grouped(report.caught),
                       grouped(report.count - report.caught));
  }
  out += report.rethrown == 0 ? "\n" : fmt::format(", {} thrown again\n", grouped(report.rethrown));
  if (report.rows.empty()) {
    return;
  }
  out += fmt::format("{:>9}  type: message, thrown by, caught by\n", "count");
  for (const app::ThrownException& row : report.rows) {
    append_exception(out, row, report.knows_catches);
  }
  append_more(out, report.all_rows, report.rows.size());
}

void append_exception_json(std::string& out, const app::ExceptionReport& report,
                           const EventReportArguments& arguments) {
  JsonText json(out);
  json.begin_object();
  json.field("count", report.count);
  if (report.knows_catches) {
    json.field("caught", report.caught);
  }
  json.field("rethrown", report.rethrown);
  json.key("exceptions");
  json.begin_array();
  for (const app::ThrownException& row : report.rows) {
    write_exception(json, row, report.knows_catches);
  }
  json.end_array();
  json.field("exceptions_in_all", report.all_rows);
  write_event_next(json, arguments, "exceptions", report.all_rows - report.rows.size(),
                   report.count != 0);
  json.end_object();
  out += '\n';
}

bool has_no_io(const app::IoReport& report) {
  return report.operations.empty() && report.memory.operations == 0 && report.heap.operations == 0;
}

void append_io_table(std::string& out, const app::IoReport& report) {
  if (has_no_io(report)) {
    out += "0 operations\n";
  }
  std::string text;
  append_operations(text, "operation", report.operations);
  append_operations(text, "file", report.files);
  append_more(text, report.all_files, report.files.size());
  append_operations(text, "asked for by", report.functions);
  append_more(text, report.all_functions, report.functions.size());
  append_operations(text, "process", report.processes);
  append_held(text, "memory", "commit or release", report.memory);
  append_held(text, "heap", "allocation or free", report.heap);
  out += text;
}

void append_io_json(std::string& out, const app::IoReport& report,
                    const EventReportArguments& arguments) {
  JsonText json(out);
  json.begin_object();
  write_sums(json, "operations", report.operations, true);
  write_sums(json, "files", report.files, true);
  write_sums(json, "functions", report.functions, true);
  write_sums(json, "processes", report.processes, true);
  write_held(json, "memory", report.memory);
  write_held(json, "heap", report.heap);
  json.field("files_in_all", report.all_files);
  json.field("functions_in_all", report.all_functions);
  write_event_next(json, arguments, "io",
                   std::max(report.all_files - report.files.size(),
                            report.all_functions - report.functions.size()));
  json.end_object();
  out += '\n';
}

}  // namespace stackpack::cli
