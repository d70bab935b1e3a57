#pragma once

#include "app/listing/text_output.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::cli {

// `dump --branches` and `dump --ranges`. Text: a line per row, in the order of bytes; JSON: an
// array, an element a line, by place.
Status dump_branches(const Reader& reader, bool as_json, app::TextOutput& out);
Status dump_ranges(const Reader& reader, bool as_json, app::TextOutput& out);

/// `dump --branch-stacks`: a row for each sample with a branch stack, in the order of the samples.
Status dump_branch_stacks(const Reader& reader, bool as_json, app::TextOutput& out);

}  // namespace stackpack::cli
