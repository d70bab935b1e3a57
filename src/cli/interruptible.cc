#include "cli/interruptible.h"

#include "app/console.h"
#include "cli/commands.h"

namespace stackpack::cli {

bool may_write_to(const std::string& output, bool json, std::string_view command,
                  const Messages& messages) {
  if (output != "-") {
    return true;
  }
  if (app::is_terminal(app::Stream::kStandardOutput)) {
    messages.error(command, kTerminalText);
    return false;
  }
  if (json) {
    messages.error(command, "--json and -o - both write to standard output; give -o FILE");
    return false;
  }
  return true;
}

void end_if_interrupted(std::string_view subject, const Messages& messages) {
  if (app::interrupted_by() != 0) {
    messages.error(subject, "interrupted; nothing was written");
    app::end_by_signal(app::interrupted_by());
  }
}

}  // namespace stackpack::cli
