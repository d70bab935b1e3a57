#pragma once

#include <string>

#include "cli/messages.h"
#include "stackpack/result.h"

namespace stackpack::cli {

/// Says why `file` could not be opened as a .spk file; of what is something else, what it is and
/// what to do with it.
void explain_not_packed(const std::string& file, const Error& error, const Messages& messages);

}  // namespace stackpack::cli
