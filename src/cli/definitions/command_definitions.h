#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/command_text.h"
#include "cli/invocation.h"
#include <CLI/CLI.hpp>

namespace stackpack::cli {

/// Every command with its options, bound to the arguments they fill. Not copyable: CLI11 keeps
/// references to the members.
struct CommandDefinitions {
  struct Extra {
    std::vector<std::string> usage;
    std::vector<ExampleText> examples;
    std::string notes;
  };

  CommandDefinitions();
  CommandDefinitions(const CommandDefinitions&) = delete;
  CommandDefinitions& operator=(const CommandDefinitions&) = delete;

  CLI::App app;
  std::map<std::string, Extra> extras;
  Invocation invocation;
  std::vector<DumpKind> dump_kinds;

 private:
  CLI::App& command(const std::string& name, const std::string& summary, Command id, Extra extra);
  void define_convert();
  void define_convert_inputs(CLI::App& sub);
  void define_convert_outputs(CLI::App& sub);
  void define_convert_packing(CLI::App& sub);
  void define_convert_reports(CLI::App& sub);
  void define_stats();
  void define_dump();
  void define_show();
  void define_top();
  void define_neighbours(const std::string& name, const std::string& summary, ReportKind kind);
  void define_report(CLI::App& sub, ReportKind kind);
  void define_diff();
  void define_diff_form(CLI::App& sub);
  void define_diff_statistics(CLI::App& sub);
  void define_export();
  void define_export_format(CLI::App& sub);
  void define_export_form(CLI::App& sub);
  void define_view();
  void define_symbolize();
  void define_collect();
  void define_merge();
  void define_verify();
  void define_help();
};

}  // namespace stackpack::cli
