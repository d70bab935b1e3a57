#include <algorithm>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/next_commands.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

// What is said of a file; of a bad one messages say why.
void append_verdict(std::string& out, const std::string& file, const Reader* good) {
  JsonText json(out);
  json.begin_object();
  json.field("file", file);
  json.field("ok", good != nullptr);
  if (good != nullptr) {
    json.field("samples", good->statistics().samples.total);
    json.field("callstacks", good->statistics().callstacks.unique);
    json.field("file_bytes", good->file_bytes());
    next_of_file(file).write(json);
  }
  json.end_object();
}

void append_line(std::string& out, const std::string& file, const Reader& good) {
  append_escaped(out, file);
  out += fmt::format(": ok ({} samples, {} callstacks, {} bytes)\n",
                     grouped(good.statistics().samples.total),
                     grouped(good.statistics().callstacks.unique), grouped(good.file_bytes()));
}

}  // namespace

int run_verify(const VerifyArguments& arguments, const Messages& messages) {
  int worst = kExitSuccess;
  std::string verdicts;
  for (const std::string& file : arguments.files) {
    int exit_code = kExitSuccess;
    const std::unique_ptr<Reader> reader = open_or_explain(file, messages, exit_code);
    if (reader) {
      if (const Status verified = reader->verify(); !verified) {
        messages.error(file, verified.error());
        exit_code = exit_code_of(verified.error());
      } else if (!arguments.quiet && !arguments.json) {
        std::string line;
        append_line(line, file, *reader);
        exit_code = print(line, messages);
      }
    }
    if (arguments.json) {
      verdicts += verdicts.empty() ? "[\n" : ",\n";
      append_verdict(verdicts, file, exit_code == kExitSuccess ? reader.get() : nullptr);
    }
    worst = std::max(worst, exit_code);
  }
  return arguments.json ? std::max(worst, print(verdicts + "\n]\n", messages)) : worst;
}

}  // namespace stackpack::cli
