#pragma once

#include <string>

#include "app/convert/measure.h"

namespace stackpack::cli {

/// Appends what `stats` prints for a person: the table of the three forms of the callstacks first
/// (raw, deduplicated, compressed), then the rest.
void append_statistics_table(std::string& out, const app::Measurement& measurement);

/// The lines of `stats` over several files: a header, a line per file, a total line.
void append_overview_header(std::string& out);
void append_overview_line(std::string& out, const app::Measurement& measurement);

}  // namespace stackpack::cli
