#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "cli/command_text.h"
#include "cli/invocation.h"
#include "cli/option_rows.h"

namespace stackpack::cli {

/// Every command with its options, bound to the arguments they fill. Not copyable: the rows refer
/// to the members.
struct CommandDefinitions {
  struct Extra {
    std::vector<std::string> usage;
    std::vector<ExampleText> examples;
    std::string notes;
  };

  CommandDefinitions();
  CommandDefinitions(const CommandDefinitions&) = delete;
  CommandDefinitions& operator=(const CommandDefinitions&) = delete;

  std::deque<CommandRow> commands;
  std::map<std::string, Extra> extras;
  Invocation invocation;
  std::vector<DumpKind> dump_kinds;

 private:
  CommandRow& command(const std::string& name, const std::string& summary, Command id, Extra extra);
  void define_convert();
  void define_convert_inputs(CommandRow& sub);
  void define_convert_outputs(CommandRow& sub);
  void define_convert_packing(CommandRow& sub);
  void define_convert_reports(CommandRow& sub);
  void define_stats();
  void define_dump();
  void define_dump_kinds(CommandRow& sub);
  void define_show();
  void define_top();
  void define_annotate();
  void define_neighbours(const std::string& name, const std::string& summary, ReportKind kind);
  void define_report(CommandRow& sub, ReportKind kind, bool of_lines = false);
  void define_branches();
  void define_event_reports();
  void define_event_report(CommandRow& sub, EventReportKind kind);
  void define_info();
  void define_lock_report();
  void define_memory_report();
  void define_diff();
  void define_diff_form(CommandRow& sub);
  void define_diff_outputs(CommandRow& sub);
  void define_diff_statistics(CommandRow& sub);
  static void define_mistakes(CommandRow& sub, double& rate);
  void define_diff_work(CommandRow& sub);
  void define_baseline();
  void define_trend();
  void define_export();
  void define_export_format(CommandRow& sub);
  void define_export_form(CommandRow& sub);
  void define_branch_export(CommandRow& sub);
  void define_view();
  void define_symbolize();
  void define_cut();
  void define_collect();
  void define_merge();
  void define_verify();
  void define_waits();
  void define_query();
  void define_mcp();
  void define_redact();
  void define_help();
};

}  // namespace stackpack::cli
