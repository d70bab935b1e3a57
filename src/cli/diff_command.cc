#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/batch/batch_plan.h"
#include "app/console.h"
#include "app/convert/capture_probe.h"
#include "app/convert/packed_capture.h"
#include "app/diff/amounts_of_work.h"
#include "app/diff/difference_page.h"
#include "app/diff/gate_comparison.h"
#include "app/diff/small_text.h"
#include "app/listing/text_output.h"
#include "app/trend/baseline_folder.h"
#include "cli/commands.h"
#include "cli/diff_findings.h"
#include "cli/diff_report.h"
#include "cli/event_note.h"
#include "cli/exit_codes.h"
#include "cli/messages.h"
#include "cli/name_column.h"
#include "cli/shown_capture.h"

namespace stackpack::cli {

namespace {

/// Files of one side, open.
struct OpenSide {
  std::vector<app::PackedCapture> files;
  std::vector<const Reader*> readers;
  std::vector<std::string> notices;
};

bool open_side(const std::vector<std::string>& paths, const DiffArguments& asked,
               const Messages& messages, OpenSide& side, int& exit_code) {
  const CaptureArguments& arguments = asked.capture;
  bool good = true;
  for (const std::string& path : paths) {
    ConvertProgress conversion;
    Result<app::PackedCapture> opened =
        app::PackedCapture::open(path, packing_of(arguments, path, messages), &conversion);
    if (!opened) {
      explain_unread(path, opened.error(), conversion, messages);
      exit_code = std::max<int>(exit_code, exit_code_of(opened.error()));
      good = false;
      continue;
    }
    if (!opened->is_made() && side.files.empty() && arguments.symbolize) {
      note_missing_names(path, opened->reader(), messages);
    }
    const std::vector<std::string> notices =
        notices_of(path, notices_of_shown(*opened, opened->reader(), asked.options));
    side.notices.insert(side.notices.end(), notices.begin(), notices.end());
    side.files.push_back(std::move(*opened));
  }
  for (const app::PackedCapture& file : side.files) {
    side.readers.push_back(&file.reader());
  }
  return good;
}

std::string text_of_diff(const DiffArguments& arguments, const JudgedDiff& diff) {
  std::string text;
  switch (arguments.form) {
    case DiffForm::kJson:
      append_diff_json(text, diff, arguments);
      break;
    case DiffForm::kMarkdown:
      append_diff_markdown(
          text, diff,
          {arguments.rows,
           diff.report.by == DiffGrain::kFunction || diff.report.by == DiffGrain::kLine
               ? arguments.names.value_or(app::FunctionNames::kShort)
               : app::FunctionNames::kFull,
           arguments.names && *arguments.names != app::FunctionNames::kShort});
      break;
    case DiffForm::kTable:
    case DiffForm::kFolded:
    case DiffForm::kHtml:
      append_diff_table(text, diff,
                        {arguments.rows.value_or(DiffArguments::kRows), output_has_colours(),
                         names_or_default(arguments.names)});
      break;
  }
  return text;
}

// One line for each finding and each condition that no one could decide.
int explain_gate(const DiffArguments& arguments, const JudgedDiff& diff, const Messages& messages) {
  for (const GateFinding& finding : diff.gate.findings) {
    const std::string text = finding_text(diff.report, diff.conditions, finding);
    if (finding.allowed) {
      messages.note("diff", "allowed: " + text);
    } else if (finding.unsure) {
      messages.warning("diff", "unsure: " + text);
    } else {
      messages.error("diff", text);
    }
  }
  const std::vector<std::string> sentences = gate_sentences(diff);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const GateResult& result = diff.gate.results[i];
    if (result.not_visible != 0 || result.unsure != 0 ||
        result.outcome == GateOutcome::kUndecided) {
      messages.warning("diff", sentences[i]);
    }
  }
  for (std::size_t i = 0; i < diff.allowed.size(); ++i) {
    if (!diff.gate.used[i]) {
      messages.note(arguments.gate_file.empty() ? arguments.allow_file : arguments.gate_file,
                    "nothing to allow: " + diff.allowed[i].text);
    }
  }
  const bool bad = diff.gate.failed() || (arguments.strict && diff.gate.undecided());
  return bad ? kExitLossy : kExitSuccess;
}

void explain_error(const DiffArguments& arguments, Error error, const Messages& messages) {
  const std::size_t olds = arguments.before.size();
  std::string file = "diff";
  if (error.part < olds + arguments.after.size()) {
    file = error.part < olds ? arguments.before[error.part] : arguments.after[error.part - olds];
  }
  error.part = kMainPart;
  messages.error(file, error);
}

// A line of the list of amounts that is wrong, or a file that has none.
void explain_amounts(const DiffArguments& arguments, const Error& error, const Messages& messages) {
  if (error.code == ErrorCode::kUsage || arguments.units_file.empty()) {
    explain_error(arguments, error, messages);
    return;
  }
  Error own = error;
  own.part = kMainPart;
  messages.error(arguments.units_file, own);
}

void explain_events(const DiffReport& report, const Messages& messages) {
  constexpr std::size_t kMost = 5;
  if (report.events_left_out.empty()) {
    return;
  }
  std::string names;
  for (std::size_t i = 0; i < std::min(kMost, report.events_left_out.size()); ++i) {
    names += (i == 0 ? "" : ", ") + report.events_left_out[i];
  }
  const std::size_t more =
      report.events_left_out.size() - std::min(kMost, report.events_left_out.size());
  messages.note("diff",
                fmt::format("not compared: {}{}; --all-events takes those that both sides have",
                            names, more == 0 ? "" : fmt::format(" and {} more", more)));
}

// How much work the files have done, those of the old side first.
Result<std::vector<double>> amounts_of_work(const DiffArguments& arguments, const OpenSide& before,
                                            const OpenSide& after, std::string& problem) {
  if (!arguments.unit_key.empty()) {
    std::vector<const Reader*> readers = before.readers;
    readers.insert(readers.end(), after.readers.begin(), after.readers.end());
    return app::amounts_of_metadata(arguments.unit_key, readers, problem);
  }
  if (arguments.units_file.empty()) {
    return std::vector<double>();
  }
  const Result<std::string> text =
      app::read_small_text(arguments.units_file, "a list of amounts of work is at most 1 MiB");
  if (!text) {
    return text.error();
  }
  std::vector<std::string> paths = arguments.before;
  paths.insert(paths.end(), arguments.after.begin(), arguments.after.end());
  return app::amounts_of_lines(*text, paths, problem);
}

// The files that a folder stands for.
bool append_runs(const std::string& folder, const DiffArguments& arguments,
                 const Messages& messages, std::vector<std::string>& files, int& exit_code) {
  const auto runs = app::runs_of_folder(folder, arguments.last.value_or(DiffArguments::kLast));
  if (!runs) {
    messages.error(folder, runs.error());
    exit_code = exit_code_of(runs.error());
    return false;
  }
  files.insert(files.end(), runs->begin(), runs->end());
  return true;
}

// `perf record --threads` makes a folder, too.
bool is_folder_of_runs(const std::string& path) {
  const Result<bool> capture = app::looks_like_capture(path);
  return app::is_folder(path) && !(capture && *capture);
}

// A folder stands for the files in it, unless it is a capture; without OLD, it is that of the
// gate's file.
bool expand_baselines(DiffArguments& arguments, const std::string& baseline,
                      const Messages& messages, int& exit_code) {
  if (arguments.before.empty() && !arguments.gate_file.empty()) {
    if (baseline.empty()) {
      messages.error(arguments.gate_file,
                     "it names no `baseline`, and there is no OLD to compare with");
      exit_code = kExitUsage;
      return false;
    }
    return append_runs(baseline, arguments, messages, arguments.before, exit_code);
  }
  std::vector<std::string> files;
  for (const std::string& path : arguments.before) {
    if (!is_folder_of_runs(path)) {
      files.push_back(path);
    } else if (!append_runs(path, arguments, messages, files, exit_code)) {
      return false;
    }
  }
  arguments.before = std::move(files);
  return true;
}

// What the gate's file says goes behind what the command line says; a path is relative to the file.
void follow_rules(const GateRules& rules, DiffArguments& arguments, JudgedDiff& diff,
                  std::string& baseline) {
  diff.conditions.insert(diff.conditions.end(), rules.conditions.begin(), rules.conditions.end());
  diff.allowed.insert(diff.allowed.end(), rules.allowed.begin(), rules.allowed.end());
  arguments.options.renames.insert(arguments.options.renames.end(), rules.renames.begin(),
                                   rules.renames.end());
  arguments.strict = arguments.strict || rules.strict;
  arguments.last = arguments.last ? arguments.last : rules.last;
  if (!rules.baseline.empty()) {
    baseline = app::path_beside(arguments.gate_file, rules.baseline);
  }
}

bool add_listed(const std::string& list, std::vector<std::string>& files, const Messages& messages,
                int& exit_code) {
  if (list.empty()) {
    return true;
  }
  const Result<std::vector<std::string>> listed = app::read_file_list(list);
  if (!listed) {
    messages.error(list, listed.error());
    exit_code = exit_code_of(listed.error());
    return false;
  }
  files.insert(files.end(), listed->begin(), listed->end());
  return true;
}

// The files of both sides: those named, those of lists, and of folders of baselines.
bool find_files(DiffArguments& arguments, const std::string& baseline, const Messages& messages,
                int& exit_code) {
  if (!add_listed(arguments.before_list, arguments.before, messages, exit_code) ||
      !add_listed(arguments.after_list, arguments.after, messages, exit_code) ||
      !expand_baselines(arguments, baseline, messages, exit_code)) {
    return false;
  }
  if (!arguments.before.empty() && !arguments.after.empty()) {
    return true;
  }
  const std::string_view what =
      arguments.before.empty()
          ? "OLD... or --files-from LIST is missing; see stackpack diff --help"
          : "--against NEW... or --against-from LIST is missing; see stackpack diff --help";
  messages.error("diff", Error{ErrorCode::kUsage, kNoOffset, what});
  exit_code = kExitUsage;
  return false;
}

// Everything that an output must not replace.
std::vector<std::string> inputs_of(const DiffArguments& arguments) {
  std::vector<std::string> inputs = arguments.before;
  inputs.insert(inputs.end(), arguments.after.begin(), arguments.after.end());
  for (const std::string& list : {arguments.before_list, arguments.after_list}) {
    if (!list.empty() && list != "-") {
      inputs.push_back(list);
    }
  }
  return inputs;
}

// Conditions and known changes: those of the command line, then those of a file.
int read_rules(DiffArguments& arguments, const Messages& messages, JudgedDiff& diff,
               std::string& baseline) {
  diff.conditions = arguments.conditions;
  if (!arguments.allow_file.empty()) {
    auto allowed = app::read_allowed_changes(arguments.allow_file);
    if (!allowed) {
      messages.error(arguments.allow_file, allowed.error());
      return exit_code_of(allowed.error());
    }
    diff.allowed = std::move(*allowed);
  }
  if (arguments.gate_file.empty()) {
    return kExitSuccess;
  }
  const Result<std::string> text =
      app::read_small_text(arguments.gate_file, "a gate file is at most 64 KiB");
  std::string problem;
  const auto rules = text ? parse_gate_rules(*text, &problem) : Result<GateRules>(text.error());
  if (!rules) {
    Error error = rules.error();
    error.what = problem.empty() ? error.what : std::string_view(problem);
    messages.error(arguments.gate_file, error);
    return exit_code_of(error);
  }
  follow_rules(*rules, arguments, diff, baseline);
  return kExitSuccess;
}

int run_folded(const DiffArguments& arguments, const OpenSide& before, const OpenSide& after,
               const Messages& messages) {
  const Result<std::string> folded =
      folded_differences(before.readers, after.readers, arguments.options);
  if (!folded) {
    explain_error(arguments, folded.error(), messages);
    return exit_code_of(folded.error());
  }
  return print(*folded, messages);
}

int write_page(const DiffArguments& arguments, const OpenSide& before, const OpenSide& after,
               const JudgedDiff& diff, const Messages& messages) {
  app::DifferencePage page;
  page.output = arguments.output;
  page.force = arguments.force;
  page.inputs = inputs_of(arguments);
  append_diff_page(page.about_json, diff);
  page.rows = diff.report.events.front().rows;
  app::remove_leftovers({&arguments.output, 1});
  const Result<std::uint64_t> written =
      app::write_difference_page(before.readers, after.readers, arguments.options, page);
  if (written) {
    return kExitSuccess;
  }
  const Error& error = written.error();
  if (arguments.output == "-" && error.code == ErrorCode::kIo && error.os_error == EPIPE) {
    return kExitSuccess;
  }
  if (error.part == kOutputPart) {
    messages.error(arguments.output == "-" ? "(standard output)" : arguments.output, error);
  } else {
    explain_error(arguments, error, messages);
  }
  return exit_code_of(error);
}

// The source lines that have grown: a comparison of its own.
Result<std::vector<GrownLine>> lines_that_grew(const DiffArguments& arguments,
                                               const OpenSide& before, const OpenSide& after) {
  if (arguments.sarif.empty() && !arguments.annotations) {
    return std::vector<GrownLine>();
  }
  DiffOptions options = arguments.options;
  options.by = DiffGrain::kLine;
  const Result<DiffReport> report = compare_profiles(before.readers, after.readers, options);
  return report ? grown_lines(*report, app::working_directory())
                : Result<std::vector<GrownLine>>(report.error());
}

int write_findings(const DiffArguments& arguments, const OpenSide& before, const OpenSide& after,
                   const JudgedDiff& diff, const Messages& messages) {
  const auto lines = lines_that_grew(arguments, before, after);
  if (!lines) {
    explain_error(arguments, lines.error(), messages);
    return exit_code_of(lines.error());
  }
  const std::vector<std::string> inputs = inputs_of(arguments);
  const auto write = [&](const std::string& path, const auto& append) -> int {
    if (path.empty()) {
      return kExitSuccess;
    }
    std::string text;
    append(text);
    const Status written = app::write_report_file({path, arguments.force, inputs}, text);
    if (written) {
      return kExitSuccess;
    }
    Error error = written.error();
    error.part = kMainPart;
    messages.error(path == "-" ? "(standard output)" : path, error);
    return exit_code_of(error);
  };
  const int junit =
      write(arguments.junit, [&](std::string& text) { append_diff_junit(text, diff); });
  const int sarif =
      write(arguments.sarif, [&](std::string& text) { append_diff_sarif(text, diff, *lines); });
  if (arguments.annotations) {
    std::string text;
    append_annotations(text, *lines);
    app::write_standard_error(text);
  }
  return std::max(junit, sarif);
}

Status judge(const DiffArguments& arguments, const OpenSide& before, const OpenSide& after,
             JudgedDiff& diff) {
  Result<DiffReport> report =
      app::compare_for_gate(before.readers, after.readers, arguments.options, diff.conditions);
  if (!report) {
    return report.error();
  }
  diff.report = std::move(*report);
  Result<GateReport> gate = check_gate(diff.report, diff.conditions, diff.allowed,
                                       {.accept_single_run = arguments.options.accept_single_run});
  if (!gate) {
    return gate.error();
  }
  diff.gate = std::move(*gate);
  return {};
}

// Whether anything that is shown may say where in the sources it is.
bool needs_lines(const DiffArguments& arguments) {
  const bool by_name =
      arguments.options.by == DiffGrain::kFunction || arguments.options.by == DiffGrain::kModule;
  const bool is_text = arguments.form == DiffForm::kTable || arguments.form == DiffForm::kJson ||
                       arguments.form == DiffForm::kMarkdown;
  return !by_name || !is_text || !arguments.sarif.empty() || arguments.annotations ||
         !arguments.conditions.empty() || !arguments.gate_file.empty();
}

}  // namespace

int run_diff(const DiffArguments& given, const Messages& messages) {
  DiffArguments arguments = given;
  arguments.capture.naming.lines = needs_lines(arguments);
  JudgedDiff diff;
  std::string baseline;
  if (const int status = read_rules(arguments, messages, diff, baseline); status != kExitSuccess) {
    return status;
  }
  OpenSide before;
  OpenSide after;
  int exit_code = kExitSuccess;
  if (!find_files(arguments, baseline, messages, exit_code)) {
    return exit_code;
  }
  const bool opened = open_side(arguments.before, arguments, messages, before, exit_code);
  if (!open_side(arguments.after, arguments, messages, after, exit_code) || !opened) {
    return exit_code;
  }
  diff.notices = std::move(before.notices);
  diff.notices.insert(diff.notices.end(), after.notices.begin(), after.notices.end());
  warn_of("diff", diff.notices, messages);
  std::string problem;
  Result<std::vector<double>> amounts = amounts_of_work(arguments, before, after, problem);
  if (!amounts) {
    explain_amounts(arguments, amounts.error(), messages);
    return exit_code_of(amounts.error());
  }
  arguments.options.work_of_files = std::move(*amounts);
  if (arguments.form == DiffForm::kFolded) {
    return run_folded(arguments, before, after, messages);
  }
  if (const Status judged = judge(arguments, before, after, diff); !judged) {
    explain_error(arguments, judged.error(), messages);
    return exit_code_of(judged.error());
  }
  explain_events(diff.report, messages);
  if (const int status = write_findings(arguments, before, after, diff, messages);
      status != kExitSuccess) {
    return status;
  }
  const int printed = arguments.form == DiffForm::kHtml
                          ? write_page(arguments, before, after, diff, messages)
                          : print(text_of_diff(arguments, diff), messages);
  return std::max(printed, explain_gate(arguments, diff, messages));
}

}  // namespace stackpack::cli
