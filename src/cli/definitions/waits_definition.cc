#include <array>

#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"

namespace stackpack::cli {

namespace {

CommandDefinitions::Extra help_of_waits() {
  return {
      {"waits [FILE] [--list] [-n N] [FILTERS] [--json]",
       "waits [FILE] --path TID [--from TIME] [--to TIME] [--by step|thread] [--list] [-n N] "
       "[--json]"},
      {{"how long each thread ran, was blocked and waited for a processor",
        "stackpack waits perf.data"},
       {"the waits of one program that are longer than 10 ms, with who ended them",
        "stackpack waits out.spk --list --thread nginx --longer-than 10ms"},
       {"time on disks", "stackpack waits out.spk --state D"},
       {"whom thread 4711 waited for in one second",
        "stackpack waits out.spk --path 4711 --from +3s --to +4s"}},
      "A capture of switches is needed: perf record -a -e sched:sched_switch -e "
      "sched:sched_waking -g, or WPR with context switches.\n"
      "blocked: until somebody made the thread able to run; woken: from then until it got a "
      "processor; preempted: it left its processor able to run; unknown: nothing was recorded of "
      "it, or not when it ran.\n"
      "--list has a line for each run of a thread: when it ended, the wait before it, the part of "
      "it that was woken, the run, why the thread left its processor then, and of the wait who "
      "ended it and the function that blocked.\n"
      "--path replaces each block of a thread by what the thread did that ended it, whose blocks "
      "in turn by what their wakers did, so that all of the time has a thread that all waited "
      "for: sums of that by step, or with --by thread by thread; with --list the steps by time.\n"
      "Threads that are able to run in less than 1 % of their time, and idle workers of the "
      "kernel, wait for work: they are counted in a line of their own unless threads are chosen "
      "by --pid, --tid or --thread.\n"
      "NAME and STATE may have * and ?, and may be repeated: one of them must fit. All filters "
      "that are given must hold."};
}

// `path`: the option beside which most of them say nothing.
void define_filters(CommandRow& sub, OptionRow* path, WaitsArguments& arguments) {
  app::WaitFilter& filter = arguments.filter;
  add_id(sub, "--pid", "threads of this process", filter.pid)->group(kFilters);
  add_id(sub, "--tid", "this thread", filter.tid)->group(kFilters)->excludes(path);
  add_threads(sub, filter.threads, filter.tid, path);
  add_names(sub, "--comm", "threads of this name, or of processes of this name", filter.threads)
      ->group(kFilters)
      ->excludes(path);
  sub.add_option("--state", filter.states,
                 "intervals of this state (blocked, woken, ...) or reason (S, D, WrQueue/u, ...); "
                 "with --list, runs after such a wait")
      ->type_name("STATE")
      ->one_at_a_time()
      ->group(kFilters)
      ->excludes(path);
  add_length(sub, "intervals that last at least this long; with --list, runs after such a wait",
             filter.longer_than_ns)
      ->group(kFilters)
      ->excludes(path);
  sub.add_flag("--idle-pools", arguments.idle_pools, "with threads that wait for work")
      ->group(kFilters)
      ->excludes(path);
  add_times(sub, filter.from, filter.to);
}

}  // namespace

void CommandDefinitions::define_waits() {
  static constexpr std::array kSums = {Choice{"step", 0}, Choice{"thread", 1}};
  CommandRow& sub = command("waits", "show how long threads ran and waited, and what for",
                            Command::kWaits, help_of_waits());
  WaitsArguments& arguments = invocation.waits;
  sub.add_option("file", arguments.file,
                 "a .spk file, or a capture; without one, perf.data of the current folder")
      ->type_name("FILE");
  OptionRow* const list =
      sub.add_flag("--list", arguments.list, "a line a run, by thread and time");
  list->group(kForm);
  add_number<std::size_t>(sub, "-n,--rows,--limit",
                          "most threads, or rows of a path or list; 0: all", 0, 1'000'000'000,
                          [&arguments](std::size_t rows) { arguments.rows = rows; })
      ->default_str("30, of --list and --json all")
      ->group(kForm);
  add_function_names(sub, true, arguments.names)->group(kForm);
  OptionRow* const path =
      add_number<std::uint32_t>(sub, "--path", "whom this thread waited for, along its wakers", 0,
                                kUnknownId - 1, [&arguments](std::uint32_t tid) {
                                  arguments.path = true;
                                  arguments.filter.tid = tid;
                                });
  path->group(kForm);
  add_choice(sub, "--by", kSums, "what a row of a path is",
             [&arguments](int value) { arguments.by_thread = value != 0; })
      ->group(kForm)
      ->excludes(list);
  define_filters(sub, path, arguments);
  sub.add_flag("--json", arguments.json, "JSON: an object, with --list an array")->group(kReports);
  add_capture_reading(sub, arguments.capture);
}

}  // namespace stackpack::cli
