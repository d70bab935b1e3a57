#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/diff/amounts_of_work.h"
#include "bytes/quoted.h"
#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"

namespace stackpack::cli {

namespace {

// A number of percent, as a part of one.
OptionRow* add_percent(CommandRow& command, const std::string& name, const std::string& text,
                       double& part) {
  const auto take = [name, &part](const std::string& word) {
    constexpr double kPercent = 100;
    double value = 0;
    const char* const end = word.data() + word.size();
    const auto [rest, failure] = std::from_chars(word.data(), end, value);
    if (failure != std::errc{} || rest != end || !(value >= 0 && value < kPercent)) {
      refuse(name,
             fmt::format("invalid percentage {}; at least 0 and below 100", bytes::quoted(word)));
    }
    part = value / kPercent;
  };
  return command.add_option_function(name, take, text)->type_name("PERCENT");
}

void add_rename(CommandRow& sub, DiffOptions& options) {
  const auto take = [&options](const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      const std::size_t equal = word.find('=');
      if (equal == std::string::npos || equal == 0 || equal + 1 == word.size()) {
        refuse("--rename", fmt::format("{} is not OLD=NEW", bytes::quoted(word)));
      }
      options.renames.emplace_back(word.substr(0, equal), word.substr(equal + 1));
    }
  };
  sub.add_list_function("--rename", take,
                        "an image or function of the old side is called NEW now; images of the "
                        "same build id, or of the same functions, pair by themselves")
      ->type_name("OLD=NEW")
      ->one_at_a_time()
      ->group(kForm);
}

void add_gate(CommandRow& sub, DiffArguments& arguments) {
  sub.add_list_function(
         "--fail-if",
         [&arguments](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             std::string problem;
             std::optional<GateCondition> condition = parse_gate_condition(text, &problem);
             if (!condition) {
               refuse("--fail-if", fmt::format("{}: {}", bytes::quoted(text), problem));
             }
             arguments.conditions.push_back(std::move(*condition));
           }
         },
         "exit with status 3 when this holds; may be given several times")
      ->type_name("CONDITION")
      ->one_at_a_time()
      ->group("Gate");
  sub.add_option("--gate", arguments.gate_file,
                 "conditions, known changes, renames and the folder of baselines, as TOML")
      ->type_name("FILE")
      ->group("Gate");
  sub.add_option("--allow", arguments.allow_file,
                 "changes that are known: lines of PATTERN, or PATTERN up to +2pp")
      ->type_name("FILE")
      ->group("Gate");
  sub.add_flag("--strict", arguments.strict,
               "exit with status 3 as well when a condition is undecided")
      ->group("Gate");
  sub.add_flag(
         "--accept-single-run", arguments.options.accept_single_run,
         "one run a side may be a verdict, and fail a condition, though runs may differ as much "
         "by themselves")
      ->group("Gate");
}

CommandDefinitions::Extra help_of_diff() {
  return {
      {"diff OLD... --against NEW... [--fail-if CONDITION]... [FILTERS]", "diff [OLD NEW]",
       "diff --gate FILE --against NEW... [FILTERS]"},
      {{"what has another share than before", "stackpack diff old.spk new.spk"},
       {"a gate: five runs a side, as a comment on the change",
        "stackpack diff base/*.spk --against runs/*.spk --fail-if 'share +0.5pp' --markdown"},
       {"does it cost more, and where: processor time a run",
        "stackpack diff base/*.spk --against runs/*.spk --per run --fail-if 'total cpu +3%'"},
       {"conditions and the baseline as the repository has them",
        "stackpack diff --gate stackpack-gate.toml --against runs/*.spk --per run"},
       {"both sides as one picture",
        "stackpack diff old.spk --against new.spk --html -o page.html"},
       {"a tenth more in a function that counts, whatever else has changed",
        "stackpack diff old.spk --against new.spk --of 'app!serve' --fail-if 'relative +10% from "
        "1%'"}},
      "Several files a side are runs of the same thing. They show how runs differ from each "
      "other; one run a side does not.\n"
      "before, now: shares of the samples; visible: the growth that these data would have shown "
      "four times in five. A verdict is given only for what chance does not explain, for all rows "
      "together.\n"
      "CONDITION is a sentence: 'total cpu +3%' or 'blocked +10%' of what a run costs, 'function "
      "cpu "
      "+50ms', 'function of mylib!* cpu +5% from 1%' of what functions cost; '[self|total] share "
      "+0.5pp [from 1%] [of PATTERN]' or 'relative +10%' of shares. It fails where the whole "
      "interval is at least that far. With a minus: what has become less. from: "
      "rows with this share on one side; of: FUNCTION as callers takes it. Where too "
      "few samples could have shown such a change, or there is one run a side, it is undecided, "
      "and "
      "--strict fails.\n"
      "Exit status: 3 when a condition fails. docs/diff.md explains the statistics.\n" +
          std::string(kPatterns)};
}

}  // namespace

void CommandDefinitions::define_diff() {
  CommandRow& sub = command("diff", "compare profiles, and fail when something has grown",
                            Command::kDiff, help_of_diff());
  DiffArguments& arguments = invocation.diff;
  sub.add_option("old", arguments.before,
                 ".spk files, captures, or a folder of baselines: how it was; without it, the "
                 "baseline of --gate, or perf.data.old beside perf.data")
      ->type_name("OLD...");
  sub.add_option("--against", arguments.after, ".spk files, or captures: how it is now")
      ->type_name("NEW...")
      ->group(kInputs);
  sub.add_option("--files-from", arguments.before_list,
                 "take more of OLD from this file, one a line or separated by NUL; '-' is standard "
                 "input")
      ->type_name("LIST")
      ->group(kInputs);
  sub.add_option("--against-from", arguments.after_list, "take more of NEW from this file")
      ->type_name("LIST")
      ->group(kInputs);
  add_number<std::size_t>(sub, "--last",
                          "of a folder of baselines as OLD: its last N commits; 0: all", 0,
                          1'000'000'000, [&arguments](std::size_t last) { arguments.last = last; })
      ->default_str("5")
      ->group(kInputs);
  add_gate(sub, arguments);
  define_diff_form(sub);
  add_filters(sub, arguments.options.filter);
  add_wait_filters(sub, arguments.options.filter);
  add_times(sub, arguments.options.filter.from, arguments.options.filter.to);
  sub.add_flag("--all-events", arguments.options.all_events, "all events, each for itself")
      ->group(kFilters);
  add_capture_reading(sub, arguments.capture);
}

void CommandDefinitions::define_mistakes(CommandRow& sub, double& rate) {
  add_percent(
      sub, "--mistakes",
      "where nothing has changed, how often something may be found all the same, in percent", rate)
      ->default_str("1")
      ->group(kForm);
}

void CommandDefinitions::define_diff_statistics(CommandRow& sub) {
  DiffOptions& options = invocation.diff.options;
  define_mistakes(sub, options.rate);
  add_percent(sub, "--run-variation",
              "with one run a side: how much shares are taken to vary from run to run, in percent",
              options.run_variation)
      ->default_str("10")
      ->group(kForm);
}

void CommandDefinitions::define_diff_work(CommandRow& sub) {
  DiffArguments& arguments = invocation.diff;
  sub.add_option_function(
         "--unit",
         [&arguments](const std::string& word) {
           if (const std::string problem = app::problem_of_unit(word); !problem.empty()) {
             refuse("--unit", problem);
           }
           arguments.options.work = word;
         },
         "with --per run: what cost is for each of, such as request; --units or "
         "--label-unit say how many a file has done")
      ->type_name("WORK")
      ->group(kForm);
  sub.add_option("--units", arguments.units_file,
                 "amounts of work: lines of a number and a file's path or name")
      ->type_name("FILE")
      ->group(kForm);
  sub.add_option("--label-unit", arguments.unit_key,
                 "amounts of work: the metadata entry KEY of each file (dump --metadata)")
      ->type_name("KEY")
      ->group(kForm);
  sub.add_option(
         "--runs-by", arguments.options.runs_by,
         "with --per run: each sample of EVENT begins an iteration, and cost is for each of "
         "those")
      ->type_name("EVENT")
      ->group(kForm);
}

void CommandDefinitions::define_diff_form(CommandRow& sub) {
  static constexpr std::array kGrains = {
      Choice{"function", static_cast<int>(DiffGrain::kFunction)},
      Choice{"module", static_cast<int>(DiffGrain::kModule)},
      Choice{"line", static_cast<int>(DiffGrain::kLine)},
      Choice{"callstack", static_cast<int>(DiffGrain::kCallstack)},
  };
  static constexpr std::array kUnits = {
      Choice{"samples", static_cast<int>(DiffUnit::kSamples)},
      Choice{"weight", static_cast<int>(DiffUnit::kWeight)},
      Choice{"time", static_cast<int>(DiffUnit::kTime)},
      Choice{"run", static_cast<int>(DiffUnit::kRun)},
  };
  DiffArguments& arguments = invocation.diff;
  DiffOptions& options = arguments.options;
  add_choice(sub, "--by", kGrains, "what a row is", [&options](int value) {
    options.by = static_cast<DiffGrain>(value);
  })->group(kForm);
  add_choice(
      sub, "--per", kUnits,
      "what is compared: shares of the samples, of their weights, samples per second, or what "
      "a run costs (processor time, cycles, ...); by default shares of what the event "
      "measures",
      [&options](int value) { options.unit = static_cast<DiffUnit>(value); })
      ->default_str("")
      ->group(kForm);
  define_diff_work(sub);
  sub.add_option("--of", options.whole,
                 "the whole is FUNCTION, MODULE!FUNCTION or MODULE!* with what it calls")
      ->type_name("WHOLE")
      ->group(kForm);
  add_rename(sub, options);
  add_frames(sub,
             "what frames without a name are compared by: their module, module and offset, or all "
             "frames by address",
             options.frames)
      ->group(kForm);
  add_function_names(sub, false, arguments.names)->group(kForm);
  add_number<std::size_t>(sub, "-n,--rows,--limit", "most rows; 0: all", 0, 1'000'000'000,
                          [&arguments](std::size_t rows) { arguments.rows = rows; })
      ->default_str("30; of --json all, of --markdown 10 in 4 KiB")
      ->group(kForm);
  define_diff_statistics(sub);
  define_diff_outputs(sub);
}

void CommandDefinitions::define_diff_outputs(CommandRow& sub) {
  DiffArguments& arguments = invocation.diff;
  const auto form = [&](const std::string& name, DiffForm value, const std::string& text) {
    sub.add_flag_callback(
           name, [&arguments, value] { arguments.form = value; }, text)
        ->group(kReports);
  };
  form("--markdown", DiffForm::kMarkdown, "a comment for a review");
  form("--json", DiffForm::kJson, "a JSON object");
  form("--folded", DiffForm::kFolded, "callstacks with both counts, for differential flame graphs");
  form("--html", DiffForm::kHtml, "a page that shows both sides, into the file of -o");
  sub.add_option("--junit", arguments.junit, "write conditions as test cases into this file, too")
      ->type_name("FILE")
      ->group(kOutputs);
  sub.add_option("--sarif", arguments.sarif,
                 "write findings, and source lines that have grown, into this file, too")
      ->type_name("FILE")
      ->group(kOutputs);
  sub.add_flag("--annotations", arguments.annotations,
               "source lines that have grown as annotations of GitHub, on standard error")
      ->group(kOutputs);
  sub.add_option("-o,--output", arguments.output,
                 "of --html: write this file; '-' is standard output")
      ->type_name("FILE")
      ->group(kOutputs);
  sub.add_flag("--force", arguments.force, "replace existing outputs")->group(kOutputs);
}

}  // namespace stackpack::cli
