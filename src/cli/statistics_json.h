#pragma once

#include <string_view>

#include "app/convert/measure.h"
#include "app/listing/ratios.h"
#include "cli/json_text.h"

namespace stackpack::cli {

/// The name of the sum of several files in place of a file.
inline constexpr std::string_view kTotalName = "total";

/// Writes the object of `stats --json` for one file: the keys of docs/cli.md.
void write_statistics(JsonText& json, const app::Measurement& measurement);

/// Writes the object `ratios`, as of `stats --json`.
void write_ratios(JsonText& json, const app::DerivedFigures& figures);

/// Writes the fields of a loss counter table: {"name": count, ...}. The recorder's counters are
/// always there.
void write_losses(JsonText& json, const std::vector<LossCounter>& losses);

}  // namespace stackpack::cli
