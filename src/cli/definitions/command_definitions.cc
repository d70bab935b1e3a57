#include "cli/definitions/command_definitions.h"

#include <utility>

#include "cli/definitions/option_kinds.h"

namespace stackpack::cli {

CommandDefinitions::CommandDefinitions() : app("", "stackpack") {
  app.require_subcommand(1);
  define_convert();
  define_stats();
  define_dump();
  define_show();
  define_top();
  define_neighbours("callers", "show what calls a function", ReportKind::kCallers);
  define_neighbours("callees", "show what a function calls", ReportKind::kCallees);
  define_diff();
  define_export();
  define_view();
  define_symbolize();
  define_collect();
  define_merge();
  define_verify();
  define_help();
  for (CLI::App* command : app.get_subcommands({})) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_max() == 0) {
        option->disable_flag_override();  // CLI11 takes --json=7 for --json
      }
    }
  }
}

CLI::App& CommandDefinitions::command(const std::string& name, const std::string& summary,
                                      Command id, Extra extra) {
  CLI::App* const sub = app.add_subcommand(name, summary);
  sub->allow_windows_style_options(false);  // /path is a path there, too
  sub->set_help_flag("-h,--help", "print this text");
  sub->get_help_ptr()->group(group(kReports));
  sub->final_callback([this, id] { invocation.command = id; });
  extras[name] = std::move(extra);
  return *sub;
}

void CommandDefinitions::define_help() {
  CLI::App& sub =
      command("help", "explain a command or a topic", Command::kHelp,
              {{"help [COMMAND | TOPIC]"},
               {{"the topics", "stackpack help topics"},
                {"completions for this shell", "source <(stackpack help completions bash)"}},
               ""});
  sub.add_option("topic", invocation.help.topic, "a command, or one of `help topics`")
      ->type_name("TOPIC");
}

}  // namespace stackpack::cli
