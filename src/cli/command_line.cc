#include "cli/command_line.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/console.h"
#include "bytes/quoted.h"
#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"
#include "cli/option_parser.h"
#include "cli/suggestion.h"
#include "cli/usual_input.h"
#include "core/sort_rows.h"

namespace stackpack::cli {

namespace {

std::vector<std::string> command_names(const std::deque<CommandRow>& rows) {
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const CommandRow& row : rows) {
    names.push_back(row.name());
  }
  return names;
}

// The options of a command that stand below one heading of its help.
std::vector<std::string> options_below(const std::deque<CommandRow>& commands,
                                       std::string_view command, std::string_view heading) {
  std::vector<std::string> names;
  for (const CommandRow& row : commands) {
    for (const OptionRow& option : row.options()) {
      if (row.name() == command && option.heading == heading) {
        names.push_back(option.name_list().back());
      }
    }
  }
  return names;
}

// A path that is there is a hint at what was meant.
std::string unknown_command(const std::string& name, std::vector<std::string> commands) {
  std::error_code failed;
  if (std::filesystem::exists(app::path_of(name), failed)) {
    return fmt::format(
        "'{}' is a file, not a command; stackpack convert {} -o OUT.spk packs a "
        "capture, stackpack stats {} says what is in it",
        name, name, name);
  }
  if (const std::string_view answer = command_for(name); !answer.empty()) {
    return fmt::format("there is no command {}; {}", bytes::quoted(name), answer);
  }
  const bool option = name.starts_with('-');
  if (option) {
    commands = {"-V", "-h", "--help", "--version"};
  }
  const std::string meant = did_you_mean(name, commands);
  return fmt::format("unknown {} {}{}", option ? "option" : "command", bytes::quoted(name),
                     meant.empty() ? "; see stackpack --help" : meant);
}

Parsed usage_error(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return {Parsed::Kind::kUsageError, std::move(text)};
}

// Folded callstacks have no verdicts: neither what says them nor what asks for them.
std::string problem_of_folded(const DiffArguments& arguments) {
  if (!arguments.junit.empty() || !arguments.sarif.empty() || arguments.annotations) {
    return "--folded has no verdicts; --junit, --sarif and --annotations go with the other forms";
  }
  return arguments.conditions.empty() && arguments.gate_file.empty() && arguments.allow_file.empty()
             ? ""
             : "--folded has no verdicts; --fail-if, --gate and --allow go with the other forms";
}

std::string problem_of_units(const DiffArguments& arguments) {
  if (!arguments.units_file.empty() && !arguments.unit_key.empty()) {
    return "--units or --label-unit, one of them";
  }
  const bool counted = !arguments.units_file.empty() || !arguments.unit_key.empty() ||
                       !arguments.options.runs_by.empty();
  return arguments.options.work.empty() || counted
             ? ""
             : "--unit " + arguments.options.work +
                   ": nothing says how many a file has done; --units FILE, --label-unit KEY or "
                   "--runs-by EVENT does";
}

std::string problem_of(const DiffArguments& arguments) {
  if (arguments.before.empty() && arguments.before_list.empty() && arguments.gate_file.empty()) {
    return "nothing to compare with; name OLD, --files-from LIST, or --gate FILE with a baseline";
  }
  if (arguments.form == DiffForm::kFolded) {
    if (std::string problem = problem_of_folded(arguments); !problem.empty()) {
      return problem;
    }
  }
  if (std::string problem = problem_of_units(arguments); !problem.empty()) {
    return problem;
  }
  return (arguments.form == DiffForm::kHtml) == arguments.output.empty()
             ? "--html and -o FILE go together"
             : "";
}

std::string problem_of(const BaselineArguments& arguments) {
  switch (arguments.action) {
    case BaselineAction::kAdd:
      if (arguments.files.empty()) {
        return "there is nothing to add; name .spk files";
      }
      return app::is_commit_id(arguments.commit)
                 ? ""
                 : "add needs --commit ID: up to 100 letters, digits, and . _ + -";
    case BaselineAction::kPrune:
      if (!arguments.keep) {
        return "prune needs --keep N: how many commits stay";
      }
      [[fallthrough]];
    case BaselineAction::kShow:
      return arguments.files.empty() ? "" : "files go with add";
  }
  return "";
}

std::string problem_of_session(const ConvertArguments& arguments) {
  if (!arguments.out_dir.empty() || !arguments.files_from.empty()) {
    return "--session makes one output of the inputs that are named: give -o FILE";
  }
  if (!arguments.options.member.empty()) {
    return "--session and --member exclude each other";
  }
  return arguments.recursive ? "--recursive needs --out-dir DIR" : "";
}

// What is wrong with the inputs and outputs of `convert` together; empty when nothing is.
std::string problem_of_files(const ConvertArguments& arguments) {
  const bool batch = !arguments.out_dir.empty();
  if (arguments.inputs.empty() && arguments.files_from.empty()) {
    return "no input; name a capture, or '-' for standard input";
  }
  if (batch == !arguments.output.empty()) {
    return batch ? "-o and --out-dir exclude each other"
                 : "no output; give -o FILE, or --out-dir DIR for several inputs";
  }
  if (arguments.session) {
    return problem_of_session(arguments);
  }
  if (!batch && (arguments.inputs.size() != 1 || !arguments.files_from.empty())) {
    return "several inputs need --out-dir DIR instead of -o, or --session";
  }
  return !batch && arguments.recursive ? "--recursive needs --out-dir DIR" : "";
}

std::string problem_of(const ConvertArguments& arguments) {
  if (std::string problem = problem_of_files(arguments); !problem.empty()) {
    return problem;
  }
  if (const ConvertOptions& options = arguments.options;
      options.keep_branches && !(options.samples && options.sample_fields)) {
    return "--keep-branches goes neither with --no-samples nor with --no-sample-fields";
  }
  if (arguments.output == "-" && arguments.json) {
    return "--json and -o - would both write to standard output";
  }
  if (arguments.output == "-" && arguments.skip_existing) {
    return "--skip-existing needs an output that can exist";
  }
  return "";
}

// What is wrong with the files that a profile of branches is made from and for.
std::string problem_of_binary(const ExportArguments& arguments) {
  const BranchExportArguments& branches = arguments.branches;
  if (branches.binary.empty() == branches.directory.empty()) {
    return "addresses of a profile depend on the program headers of the binary: give --binary ELF "
           "and -o FILE, or --all-images DIR";
  }
  if (branches.binary.empty() && !branches.image.empty()) {
    return "--image goes with --binary";
  }
  return branches.binary.empty() != arguments.output.empty()
             ? "-o FILE goes with --binary, --all-images DIR without it"
             : "";
}

std::string problem_of_other_formats(const ExportArguments& arguments) {
  const BranchExportArguments& branches = arguments.branches;
  const bool of_branches = !branches.binary.empty() || !branches.image.empty() ||
                           !branches.directory.empty() || branches.head_duplicates ||
                           branches.wrong_path;
  if (of_branches) {
    return "--binary, --image, --all-images, --head-duplicates and --wrong-path go with profiles "
           "of branches";
  }
  return arguments.output.empty() ? "no output; give -o FILE" : "";
}

// What is wrong with the options of `export` together; empty when nothing is.
std::string problem_of(const ExportArguments& arguments) {
  const BranchExportArguments& branches = arguments.branches;
  if (!arguments.source_folders.empty() &&
      (arguments.options.format != ExportFormat::kHtml || arguments.files.size() > 1)) {
    return "--sources goes with --format html of one file";
  }
  if (!arguments.has_format) {
    return arguments.output.ends_with(".json")
               ? "a .json may be of several formats; give --format speedscope, or another"
               : "no format; give --format FORMAT, or a name that says it, such as -o OUT.html; "
                 "see "
                 "stackpack export --help";
  }
  if (!branches.profile) {
    return problem_of_other_formats(arguments);
  }
  if (std::string problem = problem_of_binary(arguments); !problem.empty()) {
    return problem;
  }
  const bool of_samples = *branches.profile == app::BranchProfile::kBoltNoLbr;
  if (of_samples && (branches.head_duplicates || branches.wrong_path)) {
    return "--head-duplicates and --wrong-path go with branches, and bolt-no-lbr is of samples";
  }
  return of_samples || arguments.options.filter.empty()
             ? ""
             : "filters select samples, and branches are sums";
}

std::string problem_of(const ViewArguments& arguments) {
  return arguments.files.size() > 1 && !arguments.source_folders.empty()
             ? "--sources goes with one file"
             : "";
}

std::string problem_of(const WaitsArguments& arguments) {
  return arguments.by_thread && !arguments.path ? "--by goes with --path" : "";
}

std::string problem_of(const TrendArguments& arguments) {
  return (arguments.form == TrendForm::kHtml) == arguments.output.empty()
             ? "--html and -o FILE go together"
             : "";
}

// The one kind of listing goes to `dump`. `listings`: the options that choose one.
std::string problem_of(DumpArguments& dump, const std::vector<DumpKind>& kinds,
                       const std::vector<std::string>& listings) {
  if (kinds.size() != 1) {
    return fmt::format("dump: say what to list, one of {}", fmt::join(listings, ", "));
  }
  dump.kind = kinds.front();
  if (dump.kind == DumpKind::kIntervals) {
    SampleFilter rest = dump.filter;
    rest.pid = rest.tid = std::nullopt;
    rest.from = rest.to = std::nullopt;
    return rest.empty() ? "" : "dump: of the filters --intervals has --pid, --tid, --from and --to";
  }
  if (dump.kind == DumpKind::kFields || dump.kind == DumpKind::kEventValues) {
    SampleFilter rest = dump.filter;
    rest.events.clear();
    return rest.empty() ? "" : "dump: of the filters --fields and --event-values have --event";
  }
  if (dump.kind != DumpKind::kStacks && dump.kind != DumpKind::kSamples && !dump.filter.empty()) {
    return "dump: filters select samples: they go with --stacks and --samples";
  }
  return dump.ids && dump.kind != DumpKind::kStacks
             ? "dump: --ids goes with --stacks; --samples always has ids"
             : "";
}

}  // namespace

CommandLine::CommandLine() : definitions_(std::make_unique<CommandDefinitions>()) {}

CommandLine::~CommandLine() = default;

const Invocation& CommandLine::invocation() const {
  return definitions_->invocation;
}

std::vector<CommandText> CommandLine::describe() const {
  std::vector<CommandText> commands;
  for (const CommandRow& command : definitions_->commands) {
    CommandText text;
    text.name = command.name();
    text.summary = command.summary();
    const CommandDefinitions::Extra& extra = definitions_->extras.at(text.name);
    text.usage = extra.usage;
    text.examples = extra.examples;
    text.notes = extra.notes;
    for (const OptionRow& option : command.options()) {
      OptionText row;
      if (!option.positional()) {
        row.names = option.name_list();
      }
      row.value = option.value;
      row.text = option.text;
      row.group = option.heading;
      row.preset = option.preset;
      text.options.push_back(std::move(row));
    }
    // Positional arguments first, then groups in the order of their first option.
    std::vector<std::string> groups;
    for (const OptionText& row : text.options) {
      if (std::find(groups.begin(), groups.end(), row.group) == groups.end() &&
          row.group != kReports) {
        groups.push_back(row.group);
      }
    }
    groups.emplace_back(kReports);
    core::sort_rows(text.options, [&groups](const OptionText& left, const OptionText& right) {
      const auto rank = [&groups](const OptionText& row) {
        return row.positional()
                   ? std::ptrdiff_t{-1}
                   : std::find(groups.begin(), groups.end(), row.group) - groups.begin();
      };
      return rank(left) < rank(right);
    });
    commands.push_back(std::move(text));
  }
  return commands;
}

// What goes together, beyond what CLI11 can check. Nothing: the command can run.
std::string CommandLine::conflict() {
  Invocation& invocation = definitions_->invocation;
  const auto of = [](std::string_view command, const std::string& problem) {
    return problem.empty() ? std::string() : fmt::format("{}: {}", command, problem);
  };
  switch (invocation.command) {
    case Command::kConvert:
      return of("convert", problem_of(invocation.convert));
    case Command::kExport:
      return of("export", problem_of(invocation.exporting));
    case Command::kView:
      return of("view", problem_of(invocation.view));
    case Command::kWaits:
      return of("waits", problem_of(invocation.waits));
    case Command::kDiff:
      return of("diff", problem_of(invocation.diff));
    case Command::kBaseline:
      return of("baseline", problem_of(invocation.baseline));
    case Command::kTrend:
      return of("trend", problem_of(invocation.trend));
    case Command::kDump:
      return problem_of(invocation.dump, definitions_->dump_kinds,
                        options_below(definitions_->commands, "dump", kListings));
    default:
      return "";
  }
}

Parsed CommandLine::parse(std::vector<std::string> arguments) {
  const std::vector<std::string> commands = command_names(definitions_->commands);
  if (arguments.empty()) {
    return usage_error("no command; see stackpack --help");
  }
  const std::string name = arguments.front();
  if (name == "-h" || name == "--help") {
    return {Parsed::Kind::kHelp,
            name == "-h" ? overview_screen(describe()) : overview_help(describe())};
  }
  const auto found = std::find(commands.begin(), commands.end(), name);
  if (found == commands.end()) {
    return usage_error(unknown_command(name, commands));
  }
  const auto number = static_cast<std::size_t>(found - commands.begin());
  arguments.erase(arguments.begin());
  const OptionsParsed parsed = parse_options(definitions_->commands[number], std::move(arguments));
  if (parsed.kind == OptionsParsed::Kind::kScreen) {
    return {Parsed::Kind::kHelp, command_screen(describe()[number])};
  }
  if (parsed.kind == OptionsParsed::Kind::kHelp) {
    return {Parsed::Kind::kHelp, command_help(describe()[number])};
  }
  if (parsed.kind == OptionsParsed::Kind::kUsageError) {
    return usage_error(fmt::format("{}: {}", name, parsed.text));
  }
  definitions_->invocation.report.filter_words = parsed.filters;
  definitions_->invocation.waits.filter_words = parsed.filters;
  definitions_->invocation.event_report.filter_words = parsed.filters;
  std::string problem = take_usual_input(definitions_->invocation);
  problem = problem.empty() ? conflict() : problem;
  return problem.empty() ? Parsed{Parsed::Kind::kRun, "", parsed.has_standard_input}
                         : usage_error(problem);
}

}  // namespace stackpack::cli
