// The table and the JSON of `top --annotate`.
#pragma once

#include <string>

#include "app/analysis/annotation.h"
#include "app/listing/source_files.h"
#include "cli/arguments.h"

namespace stackpack::cli {

/// Adds a part for each function: its source lines around those that have samples, and the offsets
/// of code without lines. Lines of the output are as wide as the terminal at most. Where the
/// capture has branches, they have the mispredicted share of theirs, and its colour.
void append_annotation(std::string& out, const app::Annotation& annotation,
                       const ReportArguments& arguments, app::SourceFiles& sources, bool colours);

/// The same as an object of JSON, places with samples alone.
void append_annotation_json(std::string& out, const app::Annotation& annotation,
                            const ReportArguments& arguments, app::SourceFiles& sources);

}  // namespace stackpack::cli
