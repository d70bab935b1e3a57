#include <array>
#include <string>

#include "bytes/quoted.h"
#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"
#include "cli/definitions/packing_options.h"

namespace stackpack::cli {

namespace {

CommandDefinitions::Extra help_of_baseline() {
  return {
      {"baseline add DIR FILE.spk... --commit ID [--json]", "baseline show DIR [--json]",
       "baseline prune DIR --keep N [--json]"},
      {{"the runs of a commit", "stackpack baseline add base runs/*.spk --commit 4f2a91c"},
       {"what there is", "stackpack baseline show base"},
       {"the last 50 commits stay", "stackpack baseline prune base --keep 50"},
       {"what they are for",
        "stackpack diff base --last 5 --against runs/*.spk --per run --fail-if 'total cpu +3%'"}},
      "Commits are in the order in which they were added. A file that is there already is not "
      "added again, and none is ever replaced. prune removes what add has written, as far as it "
      "is still the same, and nothing else.\n"
      "Exit status: 0 done, 1 usage, 2 a bad input, 3 files that prune left, since their bytes "
      "have changed, 4 an I/O error."};
}

}  // namespace

void CommandDefinitions::define_baseline() {
  static constexpr std::array kActions = {
      Choice{"add", static_cast<int>(BaselineAction::kAdd)},
      Choice{"show", static_cast<int>(BaselineAction::kShow)},
      Choice{"prune", static_cast<int>(BaselineAction::kPrune)},
  };
  CommandRow& sub = command("baseline", "keep .spk files by commit, to compare later ones with",
                            Command::kBaseline, help_of_baseline());
  BaselineArguments& arguments = invocation.baseline;
  sub.add_option_function(
         "action",
         [&arguments](const std::string& word) {
           for (const Choice& choice : kActions) {
             if (choice.word == word) {
               arguments.action = static_cast<BaselineAction>(choice.value);
               return;
             }
           }
           refuse("ACTION", bytes::quoted(word) + " is none of add, show, prune");
         },
         "add, show or prune")
      ->type_name("ACTION")
      ->required();
  sub.add_option("folder", arguments.folder, "the folder of baselines; add makes it")
      ->type_name("DIR")
      ->required();
  sub.add_option("files", arguments.files, "of add: .spk files, runs of one commit")
      ->type_name("FILE.spk...");
  sub.add_option("--commit", arguments.commit,
                 "of add: what was measured, up to 100 letters, digits, and . _ + -")
      ->type_name("ID")
      ->group(kInputs);
  add_number<std::size_t>(sub, "--keep", "of prune: how many commits stay, the last ones", 1,
                          1'000'000'000, [&arguments](std::size_t keep) { arguments.keep = keep; })
      ->group(kInputs);
  sub.add_flag("--json", arguments.json, "JSON: an object; of show an array of commits")
      ->group(kReports);
  sub.add_flag("-q,--quiet", arguments.quiet, "no report; only errors")->group(kReports);
}

namespace {

CommandDefinitions::Extra help_of_trend() {
  return {{"trend DIR [--by function|module|total] [--last N] [FILTERS] [--json|--html -o FILE]"},
          {{"which commit made it slower, and where", "stackpack trend base"},
           {"the program as a whole", "stackpack trend base --by total"},
           {"all curves on a page", "stackpack trend base --html -o trend.html"}},
          "The value of a commit is the median of its runs. A change is a level that the commits "
          "before and after do not share, by a test that allows for all places and all rows; what "
          "rests on a single commit is none. Rows that never had 0.1 % of the whole are left out.\n"
          "docs/ci.md has the method, and how soon it finds what grows slowly."};
}

void define_forms(CommandRow& sub, TrendArguments& arguments) {
  sub.add_flag_callback(
         "--json", [&arguments] { arguments.form = TrendForm::kJson; }, "a JSON object")
      ->group(kReports);
  sub.add_flag_callback(
         "--html", [&arguments] { arguments.form = TrendForm::kHtml; },
         "a page with a curve for each row, into the file of -o")
      ->group(kReports);
  sub.add_option("-o,--output", arguments.output,
                 "of --html: write this file; '-' is standard output")
      ->type_name("FILE")
      ->group(kOutputs);
  sub.add_flag("--force", arguments.force, "of --html: replace an existing output")
      ->group(kOutputs);
}

}  // namespace

void CommandDefinitions::define_trend() {
  enum Rows : std::uint8_t { kFunction, kModule, kTotal };
  static constexpr std::array kGrains = {Choice{"function", kFunction}, Choice{"module", kModule},
                                         Choice{"total", kTotal}};
  static constexpr std::array kUnits = {Choice{"run", static_cast<int>(DiffUnit::kRun)},
                                        Choice{"share", static_cast<int>(DiffUnit::kMeasure)}};
  static constexpr std::array kFigures = {Choice{"self", 0}, Choice{"total", 1}};
  CommandRow& sub = command("trend", "show at which commits of a folder of baselines costs changed",
                            Command::kTrend, help_of_trend());
  TrendArguments& arguments = invocation.trend;
  sub.add_option("folder", arguments.folder, "a folder of baselines (stackpack baseline)")
      ->type_name("DIR")
      ->required();
  add_number<std::size_t>(sub, "--last", "the last N commits; 0: all", 0, 1'000'000'000,
                          [&arguments](std::size_t last) { arguments.last = last; })
      ->default_str("0")
      ->group(kInputs);
  app::TrendOptions& options = arguments.options;
  add_choice(sub, "--by", kGrains, "what a row is, besides the whole", [&options](int value) {
    options.compared.by = value == kModule ? DiffGrain::kModule : DiffGrain::kFunction;
    options.rows = value != kTotal;
  })->group(kForm);
  add_choice(sub, "--per", kUnits,
             "what a run costs (processor time, cycles, ...), or shares of it",
             [&options](int value) { options.compared.unit = static_cast<DiffUnit>(value); })
      ->group(kForm);
  add_choice(sub, "--figure", kFigures, "what is spent in a row itself, or with what it calls",
             [&options](int value) { options.total = value == 1; })
      ->group(kForm);
  define_mistakes(sub, options.compared.rate);
  add_function_names(sub, false, arguments.names)->group(kForm);
  add_number<std::size_t>(sub, "-n,--rows,--limit", "most rows; 0: all", 0, 1'000'000'000,
                          [&arguments](std::size_t rows) { arguments.rows = rows; })
      ->default_str("30, of --json all")
      ->group(kForm);
  add_filters(sub, options.compared.filter);
  define_forms(sub, arguments);
  sub.on_begin([&options] { options.compared.unit = DiffUnit::kRun; });
}

}  // namespace stackpack::cli
