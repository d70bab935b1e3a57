#include <array>
#include <cctype>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/batch/batch.h"
#include "bytes/quoted.h"
#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"
#include "cli/suggestion.h"

namespace stackpack::cli {

void CommandDefinitions::define_export() {
  CommandRow& sub = command(
      "export", "write a .spk file or a capture in a format that a viewer opens", Command::kExport,
      {{"export FILE --format FORMAT -o OUT [FILTERS]",
        "export FILE... --format html -o OUT.html [FILTERS]",
        "export FILE --format bolt-preaggregated|autofdo|llvm-profgen --binary ELF -o OUT",
        "export FILE --format propeller|propeller-order --binary ELF -o OUT",
        "export FILE --format bolt-no-lbr --binary ELF -o OUT [FILTERS]",
        "export FILE --format bolt-preaggregated|... --all-images DIR"},
       {{"a flame graph",
         "stackpack export out.spk --format folded -o - | flamegraph.pl > out.svg"},
        {"one process, the first two seconds",
         "stackpack export out.spk --format pprof -o out.pb.gz --comm node --from +0s --to +2s"},
        {"a profile for llvm-bolt, of perf record -b",
         "stackpack export out.spk --format bolt-preaggregated --binary ./app -o app.preagg && "
         "perf2bolt -pa -p app.preagg -o app.fdata ./app"},
        {"a page of several files", "stackpack export a.spk b.spk --format html -o page.html"}},
       "folded, pprof, cpuprofile and speedscope --aggregate hold one event, since samples of "
       "different events do not add up: the one that samples time, and of several the one with "
       "most samples; "
       "--event and --all-events choose others. Figures are what that event measures, as in top.\n"
       "module+0xoffset is an offset in the file; for ELF files it is not always the virtual "
       "address that addr2line wants. For a caller it is the byte before the return address.\n" +
           std::string(kPatterns)});
  ExportArguments& arguments = invocation.exporting;
  sub.add_option("files", arguments.files,
                 "a .spk file, or a capture; several for a page of all of them")
      ->type_name("FILE")
      ->required();
  define_export_format(sub);
  sub.add_option("-o,--output", arguments.output,
                 "write this file (csv: directory); '-' is standard output")
      ->type_name("FILE")
      ->group(kOutputs);
  sub.add_flag("--force", arguments.options.force,
               "replace an existing output, or write into a directory that holds files")
      ->group(kOutputs);
  define_export_form(sub);
  define_branch_export(sub);
  // --format is that of the output.
  add_capture_names(sub, arguments.capture);
  sub.add_flag("--json", arguments.json, "report on standard output as a JSON object")
      ->group(kReports);
  sub.add_flag("-q,--quiet", arguments.quiet, "no notes, and no summary on a terminal")
      ->group(kReports);
}

namespace {

std::vector<std::string> format_words() {
  std::vector<std::string> words;
  for (const std::string_view name : export_format_names()) {
    words.emplace_back(name);
  }
  for (const std::string_view name : app::branch_profile_names()) {
    words.emplace_back(name);
  }
  return words;
}

}  // namespace

// --to is a time, as in the other commands; a format it may name for the sake of older scripts.
void CommandDefinitions::define_export_format(CommandRow& sub) {
  const std::vector<std::string> formats = format_words();
  ExportArguments& arguments = invocation.exporting;
  ExportOptions& options = arguments.options;
  const auto take_format = [&arguments, formats](const std::string& word) {
    arguments.branches.profile = app::branch_profile_of(word);
    if (arguments.branches.profile) {
      arguments.has_format = true;
      return;
    }
    const std::optional<ExportFormat> format = export_format_of(word);
    if (!format) {
      refuse("--format", fmt::format("{} is none of {}{}", bytes::quoted(word),
                                     fmt::join(formats, ", "), did_you_mean(word, formats)));
    }
    arguments.options.format = *format;
    arguments.has_format = true;
  };
  sub.add_option_function("--format", take_format, "format of the output")
      ->type_name(fmt::format("{}", fmt::join(formats, "|")))
      ->group(kOutputs);
  add_filters(sub, options.filter);
  add_wait_filters(sub, options.filter);
  add_wakers(sub, options.filter);
  sub.add_flag("--all-events", options.all_events, "all events at once, where the format adds up")
      ->group(kFilters);
  add_time(sub, "--from", "from this time on: +1.5s from the start, or as listings write times",
           options.filter.from)
      ->group(kFilters);
  sub.add_list_function(
         "--to",
         [&options, take_format](const std::vector<std::string>& words) {
           for (const std::string& word : words) {
             if (export_format_of(word) || std::isalpha(static_cast<unsigned char>(word[0])) != 0) {
               take_format(word);
             } else {
               options.filter.to = take_time("--to", word);
             }
           }
         },
         "up to this time; or the format, as --format")
      ->type_name("TIME")
      ->one_at_a_time()
      ->group(kFilters);
  add_time(sub, "--to-time", "same as --to TIME", options.filter.to)->group(kFilters);
}

void CommandDefinitions::define_branch_export(CommandRow& sub) {
  static constexpr std::string_view kBranches = "Profiles of branches";
  static constexpr std::array kRules = {Choice{"keep", 1}, Choice{"drop", 0}};
  BranchExportArguments& arguments = invocation.exporting.branches;
  sub.add_option("--binary", arguments.binary,
                 "the ELF file that the profile is for; its program headers say which address an "
                 "offset has")
      ->type_name("ELF")
      ->group(kBranches);
  sub.add_option("--image", arguments.image,
                 "the image of the capture that --binary is, by path or name, where one of the two "
                 "has no build id and names differ")
      ->type_name("NAME")
      ->group(kBranches);
  sub.add_option("--all-images", arguments.directory,
                 "instead of -o: write a profile of each image whose file is found into this "
                 "folder")
      ->type_name("DIR")
      ->group(kBranches);
  add_choice(sub, "--head-duplicates", kRules,
             "ranges of more than 4 KiB between the two newest branches of a stack where both are "
             "the same branch; autofdo drops them, the others keep them",
             [&arguments](int value) { arguments.head_duplicates = value != 0; })
      ->default_str("")
      ->group(kBranches);
  add_choice(
      sub, "--wrong-path", kRules,
      "branches of a speculative path that was abandoned; autofdo drops them, the others keep them",
      [&arguments](int value) { arguments.wrong_path = value != 0; })
      ->default_str("")
      ->group(kBranches);
}

void CommandDefinitions::define_export_form(CommandRow& sub) {
  ExportOptions& options = invocation.exporting.options;
  static constexpr std::array kWeights = {
      Choice{"auto", static_cast<int>(CountBy::kAuto)},
      Choice{"count", static_cast<int>(CountBy::kSamples)},
      Choice{"period", static_cast<int>(CountBy::kWeight)},
  };
  static constexpr std::array kRoots = {
      Choice{"none", static_cast<int>(FoldedRoot::kNone)},
      Choice{"process", static_cast<int>(FoldedRoot::kProcess)},
      Choice{"thread", static_cast<int>(FoldedRoot::kThread)},
  };
  add_count(sub, options.count)->group(kForm);
  add_choice(sub, "--weight", kWeights, "as --count, which has replaced it", [&options](int value) {
    options.count = static_cast<CountBy>(value);
  })->group(kForm);
  add_frames(sub, "how a frame is written: its function where one is known", options.frames)
      ->group(kForm);
  add_keep_broken(sub, options.keep_broken)->group(kForm);
  sub.add_flag("--inline,--inlines", options.folded.inlines,
               "folded: a frame for each inlined call")
      ->group(kForm);
  add_choice(sub, "--root", kRoots, "folded: what stands above the first frame",
             [&options](int value) { options.folded.root = static_cast<FoldedRoot>(value); })
      ->group(kForm);
  sub.add_flag_callback(
         "--with-process", [&options] { options.folded.root = FoldedRoot::kProcess; },
         "folded: same as --root process")
      ->group(kForm);
  sub.add_flag("--annotate-kernel", options.folded.annotate_kernel,
               "folded: mark kernel frames with _[k]")
      ->group(kForm);
  sub.add_option(
         "--sources", invocation.exporting.source_folders,
         "html: show the lines of functions whose source files are below this folder; the page "
         "holds them")
      ->type_name("DIR")
      ->one_at_a_time()
      ->group(kForm);
  sub.add_flag("--aggregate", options.speedscope.aggregate,
               "speedscope: weights instead of times, which samples without times get always")
      ->group(kForm);
  sub.add_flag("--otlp-stack-tree", options.otlp.stack_tree,
               "otlp: callstacks as a tree, for comparing sizes: no released reader knows it")
      ->group(kForm);
  add_size(sub, "--memory-limit", "memory for what grows with the samples", options.memory_limit,
           app::Batch::kLeastMemoryLimit)
      ->default_str("96MiB")
      ->group(kForm);
}

void CommandDefinitions::define_view() {
  CommandRow& sub =
      command("view", "show a file in the browser", Command::kView,
              {{"view [FILE...] [FILTERS]"},
               {{"all of it", "stackpack view out.spk"},
                {"two runs in one page", "stackpack view a.spk b.spk"},
                {"one process, from its capture", "stackpack view perf.data --comm node"},
                {"with the lines of its functions", "stackpack view out.spk --sources src"},
                {"whom its threads wait for", "stackpack view out.spk --event blocked --wakers"}},
               "The page of export --format html goes to a temporary file that only you can read, "
               "and xdg-open opens it. Where there is no display, its path is printed. The file is "
               "not removed.\n"
               "Functions of a capture are named from the files of this machine; what was packed "
               "for it is not kept.\n" +
                   std::string(kPatterns)});
  ViewArguments& arguments = invocation.view;
  sub.add_option("files", arguments.files,
                 ".spk files, or captures; without one, perf.data of the current folder")
      ->type_name("FILE");
  add_count(sub, arguments.options.count)->group(kForm);
  add_filters(sub, arguments.options.filter);
  add_wait_filters(sub, arguments.options.filter);
  add_wakers(sub, arguments.options.filter);
  add_times(sub, arguments.options.filter.from, arguments.options.filter.to);
  add_frames(sub, "how a frame is written: its function where one is known",
             arguments.options.frames)
      ->group(kForm);
  add_keep_broken(sub, arguments.options.keep_broken)->group(kForm);
  sub.add_option("--sources", arguments.source_folders,
                 "show the lines of functions whose source files are below this folder; the page "
                 "holds them")
      ->type_name("DIR")
      ->one_at_a_time()
      ->group(kForm);
  sub.add_flag("--json", arguments.json, "report on standard output as a JSON object")
      ->group(kReports);
  sub.add_flag("-q,--quiet", arguments.quiet, "no summary on a terminal")->group(kReports);
  add_capture_reading(sub, arguments.capture);
}

}  // namespace stackpack::cli
