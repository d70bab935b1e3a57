#include <string>

#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"

namespace stackpack::cli {

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
