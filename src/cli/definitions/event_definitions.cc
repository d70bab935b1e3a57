#include <array>
#include <string>

#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"

namespace stackpack::cli {

void CommandDefinitions::define_event_report(CommandRow& sub, EventReportKind kind) {
  EventReportArguments& arguments = invocation.event_report;
  sub.add_option("file", arguments.file, "a .spk file, or a capture")
      ->type_name("FILE")
      ->required();
  add_number<std::size_t>(sub, "--limit", "most rows of a table or list; 0: all", 0, 1'000'000'000,
                          [&arguments](std::size_t limit) {
                            arguments.limit = limit;
                            arguments.is_limited = true;
                          })
      ->default_str(kind == EventReportKind::kLocks  ? "20, of --list all"
                    : kind == EventReportKind::kInfo ? "8"
                                                     : "20")
      ->group(kForm);
  sub.add_flag("--json", arguments.json, "a JSON object")->group(kReports);
  add_capture_reading(sub, arguments.capture);
  sub.on_begin([&arguments, kind] {
    constexpr std::size_t kInfoEvents = 8;  // one screen
    arguments.kind = kind;
    arguments.limit = kind == EventReportKind::kInfo ? kInfoEvents : arguments.limit;
  });
}

void CommandDefinitions::define_memory_report() {
  static constexpr std::array kOrders = {
      Choice{"latency", static_cast<int>(app::MemoryOrder::kLatency)},
      Choice{"count", static_cast<int>(app::MemoryOrder::kSamples)},
      Choice{"shared", static_cast<int>(app::MemoryOrder::kShared)},
  };
  CommandRow& sub = command(
      "mem", "show where data came from, how long that took, and which cache lines are shared",
      Command::kEventReport,
      {{"mem FILE [--by symbol] [--order latency|count|shared] [--limit N] [FILTERS] [--json]"},
       {{"what loads wait for", "perf mem record -o perf.data ./app && stackpack mem perf.data"},
        {"variables", "stackpack mem perf.data --by symbol --symbols build/"},
        {"lines that threads take from each other", "stackpack mem perf.data --order shared"},
        {"one program's stores", "stackpack mem perf.data --comm app --event 'mem-stores*'"}},
       "Latencies are cycles, as the processor weighs samples. Shared counts loads whose line "
       "another core had modified. A callstack is named by the id that `show` takes. " +
           std::string(kPatterns)});
  define_event_report(sub, EventReportKind::kMemory);
  add_filters(sub, invocation.event_report.filter);
  add_times(sub, invocation.event_report.filter.from, invocation.event_report.filter.to);
  add_choice(sub, "--order", kOrders, "what rows are ordered by", [this](int value) {
    invocation.event_report.memory_order = static_cast<app::MemoryOrder>(value);
  })->group(kForm);
  static constexpr std::array kTables = {Choice{"symbol", 1}};
  add_choice(
      sub, "--by", kTables,
      "one table, of data symbols: variables by the symbol tables of images, whose files are "
      "looked for as symbolize does",
      [this](int value) { invocation.event_report.by_variable = value != 0; })
      ->default_str("")
      ->group(kForm);
}

void CommandDefinitions::define_lock_report() {
  static constexpr std::array kGroups = {
      Choice{"lock", static_cast<int>(app::LockGroup::kLock)},
      Choice{"holder", static_cast<int>(app::LockGroup::kHolder)},
      Choice{"waiter", static_cast<int>(app::LockGroup::kWaiter)},
      Choice{"callstack", static_cast<int>(app::LockGroup::kCallstack)},
      Choice{"class", static_cast<int>(app::LockGroup::kClass)},
  };
  CommandRow& sub = command(
      "locks", "show which locks threads waited for, where, and who held them",
      Command::kEventReport,
      {{"locks FILE [--by lock|holder|waiter|callstack|class] [--all] [FILTERS] [--limit N] "
        "[--json]",
        "locks FILE --list [--all] [FILTERS] [--limit N] [--json]"},
       {{"the locks that cost most", "stackpack locks app.nettrace"},
        {"whom others waited for", "stackpack locks app.nettrace --by holder"},
        {"every wait, of handles as well", "stackpack locks app.nettrace --all --list"},
        {"the long waits for one lock",
         "stackpack locks app.nettrace --lock 0x200806cf448 --list --longer-than 1ms"}},
       "Of .NET: dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x40000004000:4 "
       "records waits for locks and, since .NET 9, for handles. A wait lasts as long as the "
       "runtime "
       "says, else from its begin to its end. A holder is the thread that had the lock when the "
       "wait began, and `since` the function in which it had waited for the lock itself."});
  define_event_report(sub, EventReportKind::kLocks);
  EventReportArguments& arguments = invocation.event_report;
  OptionRow* const list =
      sub.add_flag("--list", arguments.list, "a line a wait, in the order in which they ended");
  list->group(kForm);
  add_choice(
      sub, "--by", kGroups, "what a row is",
      [this](int value) { invocation.event_report.locks.by = static_cast<app::LockGroup>(value); })
      ->group(kForm)
      ->excludes(list);
  sub.add_flag("--all", arguments.locks.all, "with waits for handles, conditions and threads")
      ->group(kFilters);
  sub.add_option("--lock", arguments.locks.lock, "locks of this number or name; * and ? may stand")
      ->type_name("LOCK")
      ->group(kFilters);
  add_id(sub, "--pid", "threads of this process", arguments.locks.pid)->group(kFilters);
  add_id(sub, "--tid", "waits of this thread", arguments.locks.tid)->group(kFilters);
  add_length(sub, "waits that last at least this long", arguments.locks.longer_than_ns)
      ->group(kFilters);
}

void CommandDefinitions::define_info() {
  CommandRow& sub =
      command("info", "show what a capture is, which questions it answers, and what it lacks",
              Command::kEventReport,
              {{"info FILE [--limit N] [--json]"},
               {{"before anything else", "stackpack info app.nettrace"}},
               "The command that answers most comes first: of a capture of switches it is waits."});
  define_event_report(sub, EventReportKind::kInfo);
}

void CommandDefinitions::define_event_reports() {
  CommandRow& gc = command(
      "gc", "show what the .NET garbage collector did, and who allocates", Command::kEventReport,
      {{"gc FILE [--limit N] [--json]"},
       {{"pauses, heaps and allocations", "stackpack gc app.nettrace"},
        {"every collection", "stackpack gc app.etl --json | jq '.processes[0].collections'"}},
       "Pauses last from the begin of a suspension for a collection until the program runs again. "
       "Bytes are those of allocation events, of which there is one about every 100 KB."});
  define_event_report(gc, EventReportKind::kGc);
  CommandRow& exceptions = command(
      "exceptions", "show which .NET exceptions were thrown, and where", Command::kEventReport,
      {{"exceptions FILE [--by type|site|message] [--limit N] [--json]"},
       {{"the most frequent first", "stackpack exceptions app.nettrace"},
        {"types alone", "stackpack exceptions app.nettrace --by type"}},
       "A site is the first function below those by which the runtime itself throws."});
  define_event_report(exceptions, EventReportKind::kExceptions);
  static constexpr std::array kGroups = {
      Choice{"site", static_cast<int>(app::ExceptionGroup::kSite)},
      Choice{"type", static_cast<int>(app::ExceptionGroup::kType)},
      Choice{"message", static_cast<int>(app::ExceptionGroup::kMessage)},
  };
  add_choice(exceptions, "--by", kGroups, "what the exceptions of a row have in common",
             [this](int value) {
               invocation.event_report.exception_group = static_cast<app::ExceptionGroup>(value);
             })
      ->group(kForm);
  CommandRow& jit = command(
      "jit", "show which methods .NET compiled while the program ran, and how long that took",
      Command::kEventReport,
      {{"jit FILE [--limit N] [--json]"},
       {{"the slowest first", "stackpack jit app.nettrace"},
        {"methods that were compiled more than once",
         "stackpack jit app.nettrace --limit 0 --json | jq '.methods[] | select(.count > 1)'"}},
       "Code that was compiled before the program ran (ReadyToRun, NGEN) is not among it."});
  define_event_report(jit, EventReportKind::kJit);
  define_lock_report();
  define_memory_report();
  static constexpr std::array kOrders = {
      Choice{"bytes", static_cast<int>(app::IoOrder::kBytes)},
      Choice{"latency", static_cast<int>(app::IoOrder::kLatency)},
      Choice{"count", static_cast<int>(app::IoOrder::kCount)},
  };
  CommandRow& io = command(
      "io", "show what was read and written in a Windows trace, and for whom",
      Command::kEventReport,
      {{"io FILE [--order bytes|latency|count] [--limit N] [--json]"},
       {{"the files with most bytes", "stackpack io trace.etl"},
        {"those that took longest", "stackpack io trace.etl --order latency"}},
       "Files, functions and processes count operations of the disk and the network; of a trace "
       "without events of disks those of the file system. Held memory was committed while the "
       "trace ran, and not released up to its end."});
  define_event_report(io, EventReportKind::kIo);
  add_choice(io, "--order", kOrders, "what rows are ordered by", [this](int value) {
    invocation.event_report.order = static_cast<app::IoOrder>(value);
  })->group(kForm);
}

}  // namespace stackpack::cli
