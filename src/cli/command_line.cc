#include "cli/command_line.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/console.h"
#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"
#include "cli/suggestion.h"
#include <CLI/CLI.hpp>

namespace stackpack::cli {

namespace {

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) {
    names.push_back('-' + name);
  }
  for (const std::string& name : option.get_lnames()) {
    names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string> more = names_of(*option);
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) {
    names.push_back(sub->get_name());
  }
  return names;
}

// The option that CLI11 complains about: its texts name it.
const CLI::Option* option_in(const CLI::App& command, std::string_view complaint) {
  const CLI::Option* found = nullptr;
  std::size_t longest = 0;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (name.size() > longest && complaint.find(name) != std::string_view::npos) {
      found = option;
      longest = name.size();
    }
  }
  return found;
}

std::string called(const CLI::Option& option) {
  return option.get_positional() ? option.get_type_name() : names_of(option).back();
}

// CLI11's complaints about values, in our words.
std::string problem_with_value(const CLI::App& command, const CLI::ParseError& failure) {
  const std::string complaint = failure.what();
  const CLI::Option* option = option_in(command, complaint);
  if (option == nullptr) {
    option = option_in(command, "--" + complaint);  // that about a flag's value begins so
  }
  if (option == nullptr) {
    return failure.what();
  }
  if (option->get_items_expected_max() == 0) {
    return called(*option) + " takes no value";
  }
  const std::string value = called(*option) + ' ' + option->get_type_name();
  return option->count() > 1
             ? fmt::format("{} was given {} times; give it once", called(*option), option->count())
             : fmt::format("{} needs a value: {}", called(*option), value);
}

// What the command cannot do without.
std::string missing_part(const CLI::App& command, const CLI::ParseError& failure) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_required() && option->count() == 0) {
      return option->get_positional()
                 ? fmt::format("no {} given", option->get_type_name())
                 : fmt::format("{} {} is missing", called(*option), option->get_type_name());
    }
  }
  return failure.what();
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
  const bool option = name.starts_with('-');
  if (option) {
    commands = {"-V", "-h", "--help", "--version"};
  }
  const std::string meant = did_you_mean(name, commands);
  return fmt::format("unknown {} '{}'{}", option ? "option" : "command", name,
                     meant.empty() ? "; see stackpack --help" : meant);
}

Parsed usage_error(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return {Parsed::Kind::kUsageError, std::move(text)};
}

// What is wrong with the inputs and outputs of `convert` together; empty when nothing is.
std::string problem_of(const ConvertArguments& arguments) {
  const bool batch = !arguments.out_dir.empty();
  if (arguments.inputs.empty() && arguments.files_from.empty()) {
    return "no input; name a capture, or '-' for standard input";
  }
  if (batch == !arguments.output.empty()) {
    return batch ? "-o and --out-dir exclude each other"
                 : "no output; give -o FILE, or --out-dir DIR for several inputs";
  }
  if (arguments.session && (batch || !arguments.files_from.empty())) {
    return "--session makes one output of the inputs that are named: give -o FILE";
  }
  if (arguments.session && !arguments.options.member.empty()) {
    return "--session and --member exclude each other";
  }
  if (!batch && !arguments.session &&
      (arguments.inputs.size() != 1 || !arguments.files_from.empty())) {
    return "several inputs need --out-dir DIR instead of -o, or --session";
  }
  if (!batch && arguments.recursive) {
    return "--recursive needs --out-dir DIR";
  }
  if (arguments.output == "-" && arguments.json) {
    return "--json and -o - would both write to standard output";
  }
  if (arguments.output == "-" && arguments.skip_existing) {
    return "--skip-existing needs an output that can exist";
  }
  return "";
}

}  // namespace

CommandLine::CommandLine() : definitions_(std::make_unique<CommandDefinitions>()) {}

CommandLine::~CommandLine() = default;

const Invocation& CommandLine::invocation() const {
  return definitions_->invocation;
}

std::vector<CommandText> CommandLine::describe() const {
  std::vector<CommandText> commands;
  for (const CLI::App* sub : definitions_->app.get_subcommands({})) {
    CommandText text;
    text.name = sub->get_name();
    text.summary = sub->get_description();
    const CommandDefinitions::Extra& extra = definitions_->extras.at(text.name);
    text.usage = extra.usage;
    text.examples = extra.examples;
    text.notes = extra.notes;
    for (const CLI::Option* option : sub->get_options()) {
      OptionText row;
      row.names = names_of(*option);
      row.value = option->get_type_size() == 0 ? "" : option->get_type_name();
      if (const std::size_t checked = row.value.find(':'); checked != std::string::npos) {
        row.value.resize(checked);  // CLI11 adds what its validators say
      }
      row.text = option->get_description();
      row.group = option->get_group();
      row.preset = option->get_default_str();
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
    std::stable_sort(text.options.begin(), text.options.end(),
                     [&groups](const OptionText& left, const OptionText& right) {
                       const auto rank = [&groups](const OptionText& row) {
                         return row.positional()
                                    ? std::ptrdiff_t{-1}
                                    : std::find(groups.begin(), groups.end(), row.group) -
                                          groups.begin();
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
  if (invocation.command == Command::kConvert) {
    const std::string problem = problem_of(invocation.convert);
    return problem.empty() ? "" : "convert: " + problem;
  }
  if (invocation.command == Command::kExport && !invocation.exporting.has_format) {
    return "export: no format; give --format FORMAT, see stackpack export --help";
  }
  if (invocation.command == Command::kDiff && invocation.diff.form == DiffForm::kFolded &&
      !invocation.diff.conditions.empty()) {
    return "diff: --folded has no verdicts; --fail-if goes with the other forms";
  }
  if (invocation.command == Command::kDiff &&
      (invocation.diff.form == DiffForm::kHtml) == invocation.diff.output.empty()) {
    return "diff: --html and -o FILE go together";
  }
  if (invocation.command != Command::kDump) {
    return "";
  }
  if (definitions_->dump_kinds.size() != 1) {
    return "dump: say what to list, one of --stacks, --samples, --processes, "
           "--threads, --modules, --functions, --names, --events, --losses, --metadata";
  }
  DumpArguments& dump = invocation.dump;
  dump.kind = definitions_->dump_kinds.front();
  if (dump.kind != DumpKind::kStacks && dump.kind != DumpKind::kSamples && !dump.filter.empty()) {
    return "dump: filters select samples: they go with --stacks and --samples";
  }
  return dump.ids && dump.kind != DumpKind::kStacks
             ? "dump: --ids goes with --stacks; --samples always has ids"
             : "";
}

Parsed CommandLine::parse(std::vector<std::string> arguments) {
  CLI::App& app = definitions_->app;
  const std::vector<std::string> commands = command_names(app);
  if (arguments.empty()) {
    return usage_error("no command; see stackpack --help");
  }
  const std::string name = arguments.front();
  if (name == "-h" || name == "--help") {
    return {Parsed::Kind::kHelp, overview_help(describe())};
  }
  if (std::find(commands.begin(), commands.end(), name) == commands.end()) {
    return usage_error(unknown_command(name, commands));
  }
  const CLI::App& sub = *app.get_subcommand(name);
  std::reverse(arguments.begin(), arguments.end());  // the order CLI11 wants
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    for (const CommandText& command : describe()) {
      if (command.name == name) {
        return {Parsed::Kind::kHelp, command_help(command)};
      }
    }
  } catch (const CLI::ExtrasError&) {
    for (const std::string& extra : app.remaining(true)) {
      if (extra.size() > 1 && extra.starts_with('-')) {
        return usage_error(
            fmt::format("{}: unknown option '{}'{}", name, extra,
                        did_you_mean(extra.substr(0, extra.find('=')), option_names(sub))));
      }
    }
    const std::vector<std::string> extra = app.remaining(true);
    return usage_error(extra.empty()
                           ? fmt::format("{}: too many arguments", name)
                           : fmt::format("{}: one argument too many: '{}'", name, extra.front()));
  } catch (const CLI::RequiredError& failure) {
    return usage_error(
        fmt::format("{}: {}; see stackpack {} --help", name, missing_part(sub, failure), name));
  } catch (const CLI::ArgumentMismatch& failure) {
    return usage_error(fmt::format("{}: {}", name, problem_with_value(sub, failure)));
  } catch (const CLI::ConversionError& failure) {
    return usage_error(fmt::format("{}: {}", name, problem_with_value(sub, failure)));
  } catch (const CLI::ParseError& failure) {
    return usage_error(fmt::format("{}: {}", name, failure.what()));
  }
  const std::string problem = conflict();
  return problem.empty() ? Parsed{} : usage_error(problem);
}

}  // namespace stackpack::cli
