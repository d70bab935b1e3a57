#pragma once

#include "app/listing/text_output.h"
#include "cli/arguments.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::cli {

/// Lists one of the small tables: processes, threads, modules, events, losses, metadata. Text: a
/// line of names, a line per row, fields separated by tabs; JSON: an array, an element a line.
Status dump_table(const Reader& reader, DumpKind kind, bool as_json, app::TextOutput& out);

/// Lists every (pid, address) of the samples that has a name.
Status dump_names(const Reader& reader, bool as_json, app::TextOutput& out);

}  // namespace stackpack::cli
