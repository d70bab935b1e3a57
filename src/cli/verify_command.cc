#include <algorithm>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

int run_verify(const VerifyArguments& arguments, const Messages& messages) {
  int worst = kExitSuccess;
  for (const std::string& file : arguments.files) {
    int exit_code = kExitSuccess;
    const std::unique_ptr<Reader> reader = open_or_explain(file, messages, exit_code);
    if (reader) {
      const Status verified = reader->verify();
      if (!verified) {
        messages.error(file, verified.error());
        exit_code = exit_code_of(verified.error());
      } else if (!arguments.quiet) {
        const Statistics& statistics = reader->statistics();
        std::string line;
        append_escaped(line, file);
        line += fmt::format(": ok ({} samples, {} callstacks, {} bytes)\n",
                            grouped(statistics.samples.total),
                            grouped(statistics.callstacks.unique), grouped(reader->file_bytes()));
        exit_code = print(line, messages);
      }
    }
    worst = std::max(worst, exit_code);
  }
  return worst;
}

}  // namespace stackpack::cli
