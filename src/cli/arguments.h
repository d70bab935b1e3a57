// What the command line says, checked: one struct per command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/analysis/exception_report.h"
#include "app/analysis/hot_spots.h"
#include "app/analysis/io_report.h"
#include "app/analysis/lock_report.h"
#include "app/analysis/memory_report.h"
#include "app/branches/branch_profile.h"
#include "app/branches/branch_report.h"
#include "app/collect/collect.h"
#include "app/cut/cut.h"
#include "app/listing/function_titles.h"
#include "app/listing/wait_filter.h"
#include "app/symbolize/symbolize.h"
#include "app/trend/trend.h"
#include "stackpack/convert.h"
#include "stackpack/diff.h"
#include "stackpack/export.h"
#include "stackpack/merge.h"

namespace stackpack::cli {

/// How captures are read by the commands that show what is in them.
struct CaptureArguments {
  ConvertOptions convert;
  bool symbolize = true;         // name functions by what this machine has
  bool unwind = true;            // make callstacks of dumps
  bool hints = true;             // say on a terminal how .spk files get names
  app::SymbolizeOptions naming;  // of symbolize
  /// --sysroot; empty without it.
  [[nodiscard]] std::string root() const {
    return naming.places.has_root ? naming.places.root : std::string();
  }
};

enum class ProgressMode { kAuto, kAlways, kNever };

struct ConvertArguments {
  std::vector<std::string> inputs;
  std::string output;
  std::string out_dir;
  std::string files_from;
  bool recursive = false;
  bool session = false;
  bool skip_existing = false;
  bool keep_paths = false;
  ConvertOptions options;
  unsigned jobs = 0;  // 0: one per processor
  bool strict = false;
  bool json = false;
  bool quiet = false;
  bool verbose = false;  // list files that are no captures
  bool timings = false;
  ProgressMode progress = ProgressMode::kAuto;
  bool symbolize = false;
  bool rebase = false;
  app::SymbolizeOptions naming;  // of symbolize
};

struct MergeArguments {
  std::vector<std::string> inputs;
  std::string files_from;
  bool recursive = false;
  std::string output;
  MergeOptions options;
  bool json = false;
  bool quiet = false;
  ProgressMode progress = ProgressMode::kAuto;
};

struct StatsArguments {
  std::vector<std::string> files;
  bool json = false;
  bool by_process = false;
  std::vector<std::string> checks;
  bool quiet = false;
  ConvertOptions options;  // for files that are captures
  SampleFilter filter;
};

enum class DumpKind {
  kStacks,
  kSamples,
  kProcesses,
  kThreads,
  kModules,
  kEvents,
  kLosses,
  kMetadata,
  kFunctions,
  kNames,
  kSources,
  kBranches,
  kRanges,
  kBranchStacks,
  kIntervals,
  kEventValues,
  kFields,
  kLabels,
  kSampleFields,
  kEventsOf,
};

struct DumpArguments {
  std::string file;
  DumpKind kind = DumpKind::kStacks;
  bool ids = false;      // of --stacks
  std::string provider;  // of --events-of
  SampleFilter filter;
  std::size_t limit = 0;  // most rows; 0: all
  bool json = false;
  CaptureArguments capture;
};

struct ShowArguments {
  std::string file;
  std::vector<std::uint32_t> ids;
  std::optional<std::uint32_t> pid;
  std::optional<CaptureTime> from;
  std::optional<CaptureTime> to;
  FrameStyle frames = FrameStyle::kFunction;
  std::size_t limit = 0;                    // most frames of each; 0: all
  std::optional<app::FunctionNames> names;  // unset: short, in JSON full
  bool json = false;
  CaptureArguments capture;
};

enum class ReportKind {
  kTop,
  kCallers,
  kCallees,
};

struct ReportArguments {
  ReportKind kind = ReportKind::kTop;
  bool tree = false;      // top
  bool of_lines = false;  // annotate, which is `top --annotate`
  bool by_self = false;
  bool json = false;
  std::vector<std::string> files;
  std::string function;    // callers, callees
  std::string files_from;  // top
  std::string annotate;    // top: a function; empty: none
  std::vector<std::string> source_folders;
  std::string only;  // top: rows of these functions
  app::HotSpotQuery query;
  std::size_t rows = 0;                     // 0: all
  std::optional<app::FunctionNames> names;  // unset: short, in JSON full
  std::vector<std::string> filter_words;    // the filters as they were given, --pid=7
  CaptureArguments capture;
};

struct BranchesArguments {
  static constexpr std::size_t kRows = 30;

  std::string file;
  app::BranchOrder order = app::BranchOrder::kTaken;
  std::size_t rows = kRows;                 // of branches, and of loops; 0: all
  std::optional<app::FunctionNames> names;  // unset: short, in JSON full
  bool json = false;
  CaptureArguments capture;
};

struct WaitsArguments {
  static constexpr std::size_t kRows = 30;

  std::string file;
  bool list = false;
  std::optional<std::size_t> rows;          // 0: all; unset: kRows, of lists and JSON all
  std::optional<app::FunctionNames> names;  // of the list; unset: short, in JSON full
  app::WaitFilter filter;
  std::vector<std::string> filter_words;  // as they were given, --pid=7
  bool path = false;                      // of the thread of the filter
  std::optional<bool> by_thread;          // sums of the path; unset: by step
  bool idle_pools = false;
  bool json = false;
  CaptureArguments capture;
};

struct QueryArguments {
  static constexpr std::size_t kRows = 1000;

  std::string file;
  std::string sql;
  std::size_t rows = kRows;  // 0: all
  std::string library;       // empty: the one that the system finds
  std::string providers = "*";
  bool json = false;
  CaptureArguments capture;
};

enum class EventReportKind {
  kGc,
  kExceptions,
  kInfo,
  kIo,
  kJit,
  kLocks,
  kMemory,
};

struct EventReportArguments {
  EventReportKind kind = EventReportKind::kGc;
  std::string file;
  std::size_t limit = 20;  // 0: all
  app::IoOrder order = app::IoOrder::kBytes;
  app::MemoryOrder memory_order = app::MemoryOrder::kLatency;
  app::ExceptionGroup exception_group = app::ExceptionGroup::kSite;
  app::LockQuery locks;
  bool list = false;                      // of locks
  bool is_limited = false;                // --limit was given
  SampleFilter filter;                    // of mem
  bool by_variable = false;               // of mem
  std::vector<std::string> filter_words;  // as they were given, --pid=7
  bool json = false;
  CaptureArguments capture;
};

enum class DiffForm {
  kTable,
  kMarkdown,
  kJson,
  kFolded,
  kHtml,
};

struct DiffArguments {
  static constexpr std::size_t kRows = 30;
  static constexpr std::size_t kLast = 5;

  std::vector<std::string> before;  // empty: the baseline of gate_file
  std::vector<std::string> after;
  std::string before_list;  // a file with more of `before`
  std::string after_list;
  std::optional<std::size_t> last;  // commits of a folder of baselines, 0: all; unset: kLast
  DiffOptions options;
  std::vector<GateCondition> conditions;
  std::string allow_file;
  std::string gate_file;
  std::string units_file;  // amounts of work by file
  std::string unit_key;    // or the key of metadata that has them
  DiffForm form = DiffForm::kTable;
  std::optional<std::size_t> rows;          // unset: kRows, of JSON all
  std::optional<app::FunctionNames> names;  // of kTable; unset: short, in JSON full
  std::string output;                       // of kHtml
  std::string junit;                        // files besides
  std::string sarif;
  bool annotations = false;
  bool force = false;
  bool strict = false;
  CaptureArguments capture;
};

/// What `export` takes for profiles of branches.
struct BranchExportArguments {
  std::optional<app::BranchProfile> profile;
  std::string binary;
  std::string image;      // of the capture that `binary` is; empty: see there
  std::string directory;  // of --all-images
  std::optional<bool> head_duplicates;
  std::optional<bool> wrong_path;
};

enum class BaselineAction : std::uint8_t { kAdd, kShow, kPrune };

struct BaselineArguments {
  BaselineAction action = BaselineAction::kShow;
  std::string folder;
  std::vector<std::string> files;   // of kAdd
  std::string commit;               // of kAdd
  std::optional<std::size_t> keep;  // of kPrune: commits
  bool json = false;
  bool quiet = false;
};

enum class TrendForm : std::uint8_t { kTable, kJson, kHtml };

struct TrendArguments {
  std::string folder;
  std::size_t last = 0;  // commits; 0: all
  app::TrendOptions options;
  TrendForm form = TrendForm::kTable;
  std::optional<std::size_t> rows;  // unset: 30, of JSON all
  std::optional<app::FunctionNames> names;
  std::string output;  // of kHtml
  bool force = false;
};

struct ExportArguments {
  std::vector<std::string> files;  // more than one: a page
  std::string output;
  bool has_format = false;
  ExportOptions options;
  BranchExportArguments branches;
  CaptureArguments capture;
  std::vector<std::string> source_folders;  // of a page
  bool json = false;
  bool quiet = false;
};

struct ViewArguments {
  std::vector<std::string> files;
  ExportOptions options;
  CaptureArguments capture;
  std::vector<std::string> source_folders;
  bool json = false;
  bool quiet = false;
};

struct SymbolizeArguments {
  std::string file;
  std::string output;
  app::SymbolizeOptions options;
  std::vector<std::string> checks;
  bool json = false;
  bool quiet = false;
};

struct CutArguments {
  std::string file;
  std::string output;
  app::CutOptions options;
  bool json = false;
  bool quiet = false;
};

struct CollectArguments {
  std::vector<std::string> inputs;
  std::string output;
  app::CollectOptions options;
  std::vector<std::string> checks;
  bool json = false;
  bool quiet = false;
};

struct VerifyArguments {
  std::vector<std::string> files;
  bool quiet = false;
  bool json = false;
};

struct RedactArguments {
  std::string file;
  std::string output;
  std::vector<std::string> kept_modules;
  std::string key_file;
  bool force = false;
  bool json = false;
  bool quiet = false;
};

struct McpArguments {
  static constexpr std::size_t kAnswerBytes = 8192;

  std::vector<std::string> folders;
  std::size_t most_bytes = kAnswerBytes;  // of an answer
  CaptureArguments capture;               // names of this machine are not used unasked
  bool redact = false;                    // answers have stand-ins, as of `redact`
  std::vector<std::string> kept_modules;  // of redact
  std::string key_file;                   // of redact
};

struct HelpArguments {
  std::vector<std::string> topic;  // words after `help`
};

}  // namespace stackpack::cli
