#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/diff/small_text.h"
#include "app/redact/redact.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/next_step.h"
#include "cli/written_file.h"

namespace stackpack::cli {

int run_redact(const RedactArguments& arguments, const Messages& messages) {
  const bool to_standard_output = arguments.output == "-";
  if (!may_write_to(arguments.output, false, "redact", messages)) {
    return kExitUsage;
  }
  app::RedactOptions options;
  options.kept_modules = arguments.kept_modules;
  options.force = arguments.force;
  if (!arguments.key_file.empty()) {
    Result<std::string> key = app::read_small_text(arguments.key_file, "a key is at most 1 MiB");
    if (!key || key->empty()) {
      messages.error(arguments.key_file,
                     key ? Error{ErrorCode::kUsage, kNoOffset, "the key is empty"} : key.error());
      return key ? kExitUsage : exit_code_of(key.error());
    }
    options.key = std::move(*key);
  }
  const auto counts = app::redact_file(arguments.file, arguments.output, options);
  if (!counts) {
    const Error& error = counts.error();
    if (error.part == kOutputPart) {
      messages.error(arguments.output, error);
    } else {
      explain_not_packed(arguments.file, error, messages);
    }
    return exit_code_of(error);
  }
  if (arguments.quiet || to_standard_output) {
    return kExitSuccess;
  }
  return print(
      fmt::format("redacted: {}, {}, {}; kept: {}, {}; dropped: {}, {}\n",
                  counted(counts->functions, "function"), counted(counts->modules, "mapping"),
                  counted(counts->value_texts, "event text"),
                  counted(counts->kept_functions, "function"),
                  counted(counts->kept_modules, "mapping"), counted(counts->facts_dropped, "fact"),
                  counted(counts->values_dropped, "event value")),
      messages);
}

}  // namespace stackpack::cli
