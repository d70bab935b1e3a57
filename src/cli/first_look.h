// What a person is told when a capture was converted: what is in it, or lacking, and what to type
// next.
#pragma once

#include <string>

#include "cli/messages.h"

namespace stackpack::cli {

/// `output`: the file that was made. `named`: its functions were looked up. At most three lines;
/// none of a file that cannot be read.
void tell_first_look(const std::string& output, bool named, const Messages& messages);

}  // namespace stackpack::cli
