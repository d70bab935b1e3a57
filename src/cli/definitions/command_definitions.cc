#include "cli/definitions/command_definitions.h"

#include <utility>

#include "cli/definitions/option_kinds.h"

namespace stackpack::cli {

CommandDefinitions::CommandDefinitions() {
  define_convert();
  define_info();
  define_stats();
  define_dump();
  define_show();
  define_top();
  define_annotate();
  define_neighbours("callers", "show what calls a function", ReportKind::kCallers);
  define_neighbours("callees", "show what a function calls", ReportKind::kCallees);
  define_branches();
  define_waits();
  define_query();
  define_event_reports();
  define_diff();
  define_baseline();
  define_trend();
  define_export();
  define_view();
  define_symbolize();
  define_cut();
  define_collect();
  define_merge();
  define_verify();
  define_redact();
  define_mcp();
  define_help();
}

CommandRow& CommandDefinitions::command(const std::string& name, const std::string& summary,
                                        Command id, Extra extra) {
  CommandRow& sub = commands.emplace_back(name, summary);
  sub.add_help("-h,--help", "print this text")->group(kReports);
  sub.on_end([this, id] { invocation.command = id; });
  extras[name] = std::move(extra);
  return sub;
}

void CommandDefinitions::define_help() {
  CommandRow& sub =
      command("help", "explain a command or a topic", Command::kHelp,
              {{"help [COMMAND | TOPIC]"},
               {{"the topics", "stackpack help topics"},
                {"completions for this shell", "source <(stackpack help completions bash)"}},
               ""});
  sub.add_option("topic", invocation.help.topic, "a command, or one of `help topics`")
      ->type_name("TOPIC");
}

}  // namespace stackpack::cli
