#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/diff/small_text.h"
#include "app/redact/redact.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/interruptible.h"
#include "cli/json_text.h"
#include "cli/next_commands.h"

namespace stackpack::cli {

namespace {

std::string redaction_json(const RedactArguments& arguments, const app::RedactedCounts& counts) {
  std::string text;
  JsonText json(text);
  json.begin_object();
  json.field("file", arguments.file);
  json.field("output", arguments.output);
  json.key("redacted");
  json.begin_object();
  json.field("functions", counts.functions);
  json.field("modules", counts.modules);
  json.field("event_texts", counts.value_texts);
  json.end_object();
  json.key("kept");
  json.begin_object();
  json.field("functions", counts.kept_functions);
  json.field("modules", counts.kept_modules);
  json.end_object();
  json.key("dropped");
  json.begin_object();
  json.field("facts", counts.facts_dropped);
  json.field("event_values", counts.values_dropped);
  json.end_object();
  NextCommands next;
  next.add({"verify", arguments.output});
  next.add({"dump", arguments.output, "--modules"});
  next.add({"top", arguments.output});
  next.write(json);
  json.end_object();
  return text + '\n';
}

}  // namespace

Result<std::string> read_redaction_key(const std::string& file) {
  Result<std::string> key = app::read_small_text(file, "a key is at most 1 MiB");
  return key && key->empty() ? Error{ErrorCode::kUsage, kNoOffset, "the key is empty"}
                             : std::move(key);
}

int run_redact(const RedactArguments& arguments, const Messages& messages) {
  const bool to_standard_output = arguments.output == "-";
  if (!may_write_to(arguments.output, arguments.json, "redact", messages)) {
    return kExitUsage;
  }
  app::RedactOptions options;
  options.kept_modules = arguments.kept_modules;
  options.force = arguments.force;
  if (!arguments.key_file.empty()) {
    Result<std::string> key = read_redaction_key(arguments.key_file);
    if (!key) {
      messages.error(arguments.key_file, key.error());
      return exit_code_of(key.error());
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
  if (arguments.json) {
    return print(redaction_json(arguments, *counts), messages);
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
