#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture/function_fact.h"

namespace stackpack::capture {

/// A CodeFact as text, for a log of texts; empty when nothing is known.
void write_code(const CodeFact& code, std::string& text);

/// The fact that write_code() made a text of: it refers to the text, and to `inlined`.
CodeFact read_code(std::string_view text, std::vector<InlinedFact>& inlined);

}  // namespace stackpack::capture
