#pragma once

#include "cli/arguments.h"

namespace stackpack::cli {

enum class Command {
  kConvert,
  kStats,
  kDump,
  kShow,
  kTop,
  kCallers,
  kCallees,
  kBranches,
  kWaits,
  kEventReport,
  kDiff,
  kBaseline,
  kTrend,
  kExport,
  kView,
  kSymbolize,
  kCut,
  kCollect,
  kMerge,
  kVerify,
  kMcp,
  kRedact,
  kQuery,
  kHelp
};

/// A command with its arguments; those of the other commands have no meaning.
struct Invocation {
  Command command = Command::kHelp;
  ConvertArguments convert;
  StatsArguments stats;
  DumpArguments dump;
  ShowArguments show;
  ReportArguments report;
  BranchesArguments branches;
  WaitsArguments waits;
  EventReportArguments event_report;
  DiffArguments diff;
  BaselineArguments baseline;
  TrendArguments trend;
  ExportArguments exporting;
  ViewArguments view;
  SymbolizeArguments symbolize;
  CutArguments cut;
  CollectArguments collect;
  MergeArguments merge;
  VerifyArguments verify;
  McpArguments mcp;
  RedactArguments redact;
  QueryArguments query;
  HelpArguments help;
};

}  // namespace stackpack::cli
