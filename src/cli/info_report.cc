#include "cli/info_report.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "app/analysis/memory_report.h"
#include "app/symbolize/name_outlook.h"
#include "cli/event_reports.h"
#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/next_commands.h"
#include "cli/text_escape.h"
#include "core/sort_rows.h"
#include "stackpack/names.h"

namespace stackpack::cli {

namespace {

// What a capture has, as far as questions depend on it.
struct Contents {
  std::string kind;
  bool has_callstacks = false;
  bool has_switches = false;  // of the system, not of one runtime's own waits
  bool has_waits = false;
  bool has_branches = false;
  bool has_accesses = false;  // to memory
  bool has_labels = false;
  bool has_tracepoints = false;
  std::set<std::string> values;  // kinds that have any

  [[nodiscard]] bool has_value(std::initializer_list<std::string_view> names) const {
    return std::any_of(names.begin(), names.end(), [this](std::string_view name) {
      return values.contains(std::string(name));
    });
  }
};

struct QuestionRow {
  std::string_view about;
  std::vector<std::string_view> words;  // FILE comes second
  bool (*is_answered)(const Contents& contents);
  // How to record it: with perf, of .NET, on Windows. Empty: it is nothing that such captures lack.
  std::string_view with_perf{};
  std::string_view of_dotnet{};
  std::string_view on_windows{};
};

bool has_callstacks(const Contents& contents) {
  return contents.has_callstacks;
}

constexpr std::string_view kPerfSwitches =
    "perf record -a -e sched:sched_switch -e sched:sched_waking -g";

// In the order in which they are best asked.
const std::vector<QuestionRow>& questions() {
  static const std::vector<QuestionRow> rows = {
      {"how long threads ran and waited, for what, and who ended it",
       {"waits"},
       [](const Contents& contents) { return contents.has_switches; },
       kPerfSwitches,
       {},
       "wpr -start CPU"},
      {"which functions the samples are in",
       {"top"},
       has_callstacks,
       "perf record -g",
       "dotnet-trace collect --profile dotnet-sampled-thread-time",
       "wpr -start CPU"},
      {"what calls what, as a flame graph", {"view"}, has_callstacks},
      {"which locks threads waited for, and who held them",
       {"locks", "--all"},
       [](const Contents& contents) {
         return contents.has_value({"contention", "contention_start", "wait_start"});
       },
       {},
       "dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x40000004000:4",
       {}},
      {"how long threads waited for handles",
       {"waits"},
       [](const Contents& contents) { return contents.has_waits && !contents.has_switches; }},
      {"what the garbage collector did, and who allocates",
       {"gc"},
       [](const Contents& contents) {
         return contents.has_value({"gc_start", "allocation"});
       },
       {},
       "dotnet-trace collect --profile gc-verbose",
       {}},
      {"which exceptions were thrown, where, and who caught them",
       {"exceptions"},
       [](const Contents& contents) { return contents.has_value({"exception"}); },
       {},
       "dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x8000:2",
       {}},
      {"what was compiled while the program ran",
       {"jit"},
       [](const Contents& contents) { return contents.has_value({"jit"}); },
       {},
       "dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x10:5",
       {}},
      {"what was read, written and held in memory",
       {"io"},
       [](const Contents& contents) {
         return contents.has_value(
             {"disk_io", "file_io", "hard_fault", "virtual_memory", "network", "heap"});
       },
       {},
       {},
       "wpr -start DiskIO -start FileIO"},
      {"where data came from, and which cache lines are shared",
       {"mem"},
       [](const Contents& contents) { return contents.has_accesses; },
       "perf mem record",
       {},
       {}},
      {"the hottest branches and loops",
       {"branches"},
       [](const Contents& contents) { return contents.has_branches; },
       "perf record -b",
       {},
       {}},
      {"what tracepoints say",
       {"dump", "--fields"},
       [](const Contents& contents) { return contents.has_tracepoints; }},
      {"how samples are labelled",
       {"dump", "--labels"},
       [](const Contents& contents) { return contents.has_labels; }},
  };
  return rows;
}

std::string_view how_to_record(const QuestionRow& row, const std::string& kind) {
  return kind == "nettrace" ? row.of_dotnet
         : kind == "etl"    ? row.on_windows
         : kind == "perf"   ? row.with_perf
                            : std::string_view();
}

Status look_at_values(const Reader& reader, Contents& contents) {
  const Result<std::vector<ValueSchema>> kinds = reader.event_value_kinds();
  if (!kinds) {
    return kinds.error();
  }
  std::vector<bool> used(kinds->size());
  const Status read = reader.event_values([&used](std::span<const EventValue> rows) {
    for (const EventValue& row : rows) {
      used[row.kind] = true;
    }
    return true;
  });
  for (std::size_t kind = 0; kind < used.size(); ++kind) {
    if (used[kind]) {
      contents.values.insert((*kinds)[kind].name);
      contents.has_tracepoints =
          contents.has_tracepoints || (*kinds)[kind].name.find(':') != std::string::npos;
    }
  }
  return read;
}

// Up to the first access, and the first run: who says when a thread ran knows of its switches.
Status look_at_rows(const Reader& reader, Contents& contents) {
  const Status read = reader.sample_fields([&contents](std::span<const FieldRow> rows) {
    contents.has_accesses = std::any_of(rows.begin(), rows.end(), app::is_access);
    return !contents.has_accesses;
  });
  if (!read) {
    return read;
  }
  return reader.intervals({}, [&contents](std::span<const WaitInterval> rows) {
    contents.has_switches = std::any_of(rows.begin(), rows.end(), [](const WaitInterval& row) {
      return row.state == WaitState::kRunning;
    });
    return !contents.has_switches;
  });
}

Result<Contents> contents_of(const Reader& reader) {
  Contents contents;
  const Statistics& statistics = reader.statistics();
  contents.kind = statistics.source_kind;
  contents.has_callstacks = statistics.callstacks.stored != 0;
  contents.has_waits = reader.has_intervals();
  contents.has_labels = reader.label_set_count() != 0;
  const Result<Branches> branches = reader.branches();
  if (!branches) {
    return branches.error();
  }
  contents.has_branches = !branches->edges.empty() || reader.has_branch_stacks();
  Status read = look_at_values(reader, contents);
  read = read ? look_at_rows(reader, contents) : read;
  return read ? Result<Contents>(std::move(contents)) : read.error();
}

// Samples of each event that have a callstack.
Result<std::vector<InfoEvent>> events_of(const Reader& reader) {
  std::vector<InfoEvent> events;
  for (const EventCount& event : reader.statistics().events) {
    events.push_back({event.name, event.samples, 0});
  }
  if (!reader.has_samples()) {
    const Result<std::vector<StackCount>> counts = reader.stack_counts();
    if (!counts) {
      return counts.error();
    }
    for (const StackCount& row : *counts) {
      events[row.event].with_callstack += has_chain(row.origin) ? row.samples : 0;
    }
  } else {
    SampleQuery query;
    query.any_order = true;
    const Status read = reader.samples(query, [&events](std::span<const StoredSample> rows) {
      for (const StoredSample& row : rows) {
        events[row.event].with_callstack += has_chain(row.origin) ? 1U : 0U;
      }
      return true;
    });
    if (!read) {
      return read.error();
    }
  }
  core::sort_rows(events,
                  [](const InfoEvent& a, const InfoEvent& b) { return a.samples > b.samples; });
  return events;
}

std::vector<std::string> command_of_row(const QuestionRow& row, const std::string& file) {
  std::vector<std::string> command{std::string(row.words.front()), file};
  command.insert(command.end(), row.words.begin() + 1, row.words.end());
  return command;
}

std::string shown_command(const std::vector<std::string>& words) {
  std::string text = "stackpack";
  for (const std::string& word : words) {
    text += ' ' + shown_shell_word(word);
  }
  return text;
}

void append_recording(std::string& out, const InfoReport& report) {
  out += fmt::format("{}, {}", report.kind, human_bytes(report.capture_bytes));
  if (report.facts.times) {
    constexpr double kNsOfSecond = 1e9;
    const std::uint64_t ns = report.facts.times->to_ns - report.facts.times->from_ns;
    out += ", " + human_seconds(static_cast<double>(ns) / kNsOfSecond);
  }
  out += fmt::format(
      ", {} of {} in {}", counted(report.samples, "sample"), counted(report.threads, "thread"),
      report.processes == 1 ? std::string("1 process") : grouped(report.processes) + " processes");
  if (!report.facts.host.empty()) {
    out += ", on ";
    append_escaped(out, report.facts.host);
  }
  out += '\n';
  if (!report.facts.command.empty()) {
    constexpr std::size_t kMostBytes = 160;
    out += "recorded: ";
    append_escaped(out, report.facts.command.substr(0, kMostBytes));
    out += report.facts.command.size() > kMostBytes ? " ...\n" : "\n";
  }
}

void write_questions(JsonText& json, std::string_view key,
                     const std::vector<InfoQuestion>& questions) {
  json.key(key);
  json.begin_array();
  for (const InfoQuestion& question : questions) {
    json.begin_object();
    json.field("about", question.about);
    NextCommands command;
    const std::vector<std::string> more(question.command.begin() + 1, question.command.end());
    command.add({question.command.front()}, more);
    json.field("command", command.all().empty() ? std::string() : command.all().front());
    if (!question.record.empty()) {
      json.field("record", question.record);
    }
    json.end_object();
  }
  json.end_array();
}

}  // namespace

Result<InfoReport> info_report(const Reader& reader, const std::string& file) {
  const Result<Contents> contents = contents_of(reader);
  Result<std::vector<InfoEvent>> events = events_of(reader);
  Result<app::CaptureFacts> facts = app::capture_facts(reader, {}, false);
  if (!contents || !events || !facts) {
    return !contents ? contents.error() : !events ? events.error() : facts.error();
  }
  InfoReport report;
  const Statistics& statistics = reader.statistics();
  report.kind = contents->kind;
  report.capture_bytes = statistics.source_bytes;
  report.samples = statistics.samples.total;
  report.processes = statistics.processes;
  report.threads = statistics.threads;
  report.facts = std::move(*facts);
  report.events = std::move(*events);
  report.named = app::share_of_named_samples(reader);
  for (const QuestionRow& row : questions()) {
    InfoQuestion question{row.about, command_of_row(row, file), {}};
    if (row.is_answered(*contents)) {
      report.questions.push_back(std::move(question));
    } else if (const std::string_view how = how_to_record(row, contents->kind); !how.empty()) {
      question.record = how;
      report.lacks.push_back(std::move(question));
    }
  }
  constexpr double kFewNames = 0.5;
  if (report.named && *report.named < kFewNames) {
    report.lacks.push_back(
        {"what most functions are called",
         {"top", file},
         "where the files of the programs are: stackpack convert -s INPUT -o OUT.spk, or "
         "stackpack symbolize IN.spk -o OUT.spk --symbols FOLDER"});
  }
  return report;
}

void append_info_table(std::string& out, const InfoReport& report, std::size_t most_events) {
  append_recording(out, report);
  if (report.named) {
    out +=
        fmt::format("{:.1f} % of the samples are in functions with names\n", 100 * *report.named);
  }
  out += fmt::format("{:>12} {:>12}  event\n", "samples", "callstacks");
  const std::size_t shown =
      most_events == 0 ? report.events.size() : std::min(most_events, report.events.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const InfoEvent& event = report.events[i];
    out += fmt::format("{:>12} {:>12}  ", grouped(event.samples), grouped(event.with_callstack));
    append_escaped(out, event.name);
    out += '\n';
  }
  append_more(out, report.events.size(), shown);
  out += "it says\n";
  for (const InfoQuestion& question : report.questions) {
    out += fmt::format("  {}:\n      {}\n", question.about, shown_command(question.command));
  }
  if (!report.lacks.empty()) {
    out += "it does not say\n";
  }
  for (const InfoQuestion& question : report.lacks) {
    out += fmt::format("  {}:\n      {}\n", question.about, question.record);
  }
}

void append_info_json(std::string& out, const InfoReport& report,
                      const EventReportArguments& arguments) {
  JsonText json(out);
  json.begin_object();
  json.field("kind", report.kind);
  json.field("capture_bytes", report.capture_bytes);
  json.field("host", report.facts.host);
  json.field("recorder", report.facts.command);
  if (report.facts.times) {
    json.field("from_ns", report.facts.times->from_ns);
    json.field("to_ns", report.facts.times->to_ns);
  }
  json.field("samples", report.samples);
  json.field("processes", report.processes);
  json.field("threads", report.threads);
  if (report.named) {
    json.field("named_percent", 100 * *report.named);
  }
  json.key("events");
  json.begin_array();
  const std::size_t shown =
      arguments.limit == 0 ? report.events.size() : std::min(arguments.limit, report.events.size());
  for (std::size_t i = 0; i < shown; ++i) {
    json.begin_object();
    json.field("name", report.events[i].name);
    json.field("samples", report.events[i].samples);
    json.field("callstacks", report.events[i].with_callstack);
    json.end_object();
  }
  json.end_array();
  json.field("events_in_all", std::uint64_t{report.events.size()});
  write_questions(json, "answers", report.questions);
  write_questions(json, "lacks", report.lacks);
  NextCommands next;
  for (const InfoQuestion& question : report.questions) {
    next.add({question.command.front()}, {question.command.begin() + 1, question.command.end()});
  }
  next.write(json);
  json.end_object();
  out += '\n';
}

}  // namespace stackpack::cli
