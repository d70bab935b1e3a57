#include <string>
#include <vector>

#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"
#include "cli/definitions/packing_options.h"

namespace stackpack::cli {

void CommandDefinitions::define_cut() {
  CommandRow& sub = command(
      "cut", "write a part of a .spk file to a new file", Command::kCut,
      {{"cut IN.spk [FILTERS] -o OUT.spk"},
       {{"ten seconds", "stackpack cut day.spk --from +60s --to +70s -o slow.spk"},
        {"one program, one event",
         "stackpack cut day.spk --comm postgres --event cycles -o postgres.spk"},
        {"the callstacks of one request",
         "stackpack cut day.spk --focus handle_request -o request.spk"}},
       "Samples that pass all filters are kept with their callstacks; processes, threads, modules, "
       "names and counters of losses stay as they are. Intervals of waits and branches are left "
       "out, and counted.\n" +
           std::string(kPatterns)});
  CutArguments& arguments = invocation.cut;
  app::CutOptions& options = arguments.options;
  add_file_to_file(sub, arguments.file, arguments.output, options.force);
  add_filters(sub, options.filter);
  add_times(sub, options.filter.from, options.filter.to);
  const auto add_functions = [&sub](const std::string& name, const std::string& text,
                                    std::vector<std::string>& patterns) {
    sub.add_option(name, patterns, text)->type_name("FUNCTION")->one_at_a_time()->group(kFilters);
  };
  add_functions("--focus", "only callstacks that run through this function",
                options.patterns.focus);
  add_functions("--ignore", "without callstacks that run through this function",
                options.patterns.ignore);
  add_number<int>(sub, "--level", "zstd level", 1, 22,
                  [&options](int level) { options.level = level; })
      ->default_str("9")
      ->group(kPacking);
  sub.add_flag("--json", arguments.json, "report on standard output as a JSON object")
      ->group(kReports);
  sub.add_flag("-q,--quiet", arguments.quiet, "no summary; only errors")->group(kReports);
}

}  // namespace stackpack::cli
