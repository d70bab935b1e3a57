#pragma once

#include "app/listing/text_output.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::cli {

// `dump --branches` and `dump --ranges`. Text: a line per row, in the order of bytes; JSON: an
// array, an element a line, by place.
Status dump_branches(const Reader& reader, bool as_json, app::TextOutput& out);
Status dump_ranges(const Reader& reader, bool as_json, app::TextOutput& out);

}  // namespace stackpack::cli
