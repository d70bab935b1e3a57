#include "cli/commands.h"

#include <utility>

#include "cli/exit_codes.h"
#include "cli/next_commands.h"

namespace stackpack::cli {

std::unique_ptr<Reader> open_or_explain(const std::string& file, const Messages& messages,
                                        int& exit_code) {
  Result<std::unique_ptr<Reader>> reader = Reader::open(file);
  if (!reader) {
    explain_not_packed(file, reader.error(), messages);
    exit_code = exit_code_of(reader.error());
    return nullptr;
  }
  return std::move(*reader);
}

int finish_output(app::TextOutput& out, const Status& status, const std::string& file,
                  const Messages& messages) {
  if (out.broken_pipe()) {
    return kExitSuccess;
  }
  if (!status && !out.is_full()) {
    // What was listed before the damage is of use; the exit code says that it is not all.
    const Status ignored = out.finish();
    static_cast<void>(ignored);
    messages.error(status.error().part == kOutputPart ? "(standard output)" : file, status.error());
    return exit_code_of(status.error());
  }
  const Status finished = out.finish();
  if (!finished && !out.broken_pipe()) {
    messages.error("(standard output)", finished.error());
    return exit_code_of(finished.error());
  }
  return kExitSuccess;
}

int print(const std::string& text, const Messages& messages) {
  Result<std::unique_ptr<app::TextOutput>> out = app::TextOutput::open();
  if (!out) {
    messages.error("(standard output)", out.error());
    return exit_code_of(out.error());
  }
  (*out)->text() = text;
  return finish_output(**out, {}, "", messages);
}

}  // namespace stackpack::cli
