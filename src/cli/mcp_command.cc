#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/mcp/allowed_folders.h"
#include "app/mcp/rpc_message.h"
#include "app/redact/redact.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/mcp/mcp_server.h"

namespace stackpack::cli {

int run_mcp(const McpArguments& arguments, const Messages& messages) {
  Result<app::AllowedFolders> folders = app::AllowedFolders::create(arguments.folders);
  if (!folders) {
    Error error = folders.error();
    const std::string& folder = arguments.folders[error.part];
    error.part = kMainPart;
    messages.error(folder, error);
    return exit_code_of(error);
  }
  std::optional<app::RedactOptions> redaction;
  if (arguments.redact) {
    redaction.emplace();
    redaction->kept_modules = arguments.kept_modules;
    redaction->force = true;  // the file is a temporary one
    if (!arguments.key_file.empty()) {
      Result<std::string> key = read_redaction_key(arguments.key_file);
      if (!key) {
        messages.error(arguments.key_file, key.error());
        return exit_code_of(key.error());
      }
      redaction->key = std::move(*key);
    }
  } else if (!arguments.kept_modules.empty() || !arguments.key_file.empty()) {
    messages.error("mcp", "--keep-modules and --key go with --redact");
    return kExitUsage;
  }
  const app::SymbolizeOptions& naming = arguments.capture.naming;
  if (!arguments.capture.symbolize && !(naming.kallsyms.empty() && naming.map_folder.empty())) {
    messages.error("mcp", "--kallsyms and --perf-map go with --symbolize");
    return kExitUsage;
  }
  Result<std::unique_ptr<app::TextOutput>> out = app::TextOutput::open();
  if (!out) {
    messages.error("(standard output)", out.error());
    return exit_code_of(out.error());
  }
  McpServer server(McpSession(arguments, std::move(*folders), std::move(redaction), messages));
  app::MessageLines lines(*std::cin.rdbuf());
  std::string line;
  Status written;
  while (written) {
    const app::MessageLines::Kind kind = lines.next(line);
    if (kind == app::MessageLines::Kind::kEnd) {
      break;
    }
    const std::string answer = kind == app::MessageLines::Kind::kTooLong
                                   ? McpServer::answer_to_long_line()
                                   : server.answer(line);
    if (!answer.empty()) {
      (*out)->text() += answer + '\n';
      written = (*out)->flush();
    }
  }
  return finish_output(**out, written, "", messages);
}

}  // namespace stackpack::cli
