#pragma once

#include <string>
#include <string_view>

#include "cli/messages.h"

namespace stackpack::cli {

/// Whether a command may write its file to `output`, where "-" is standard output. Not to a
/// terminal, and not where its JSON goes as well: those are said in a message, and a usage error.
bool may_write_to(const std::string& output, bool json, std::string_view command,
                  const Messages& messages);

/// After a run that gave no result: when the user interrupted it, says so about `subject` and ends
/// the process as the signal would have.
void end_if_interrupted(std::string_view subject, const Messages& messages);

}  // namespace stackpack::cli
