#pragma once

#include <string>
#include <string_view>

namespace stackpack::exporting {

// What the tables of the csv export consist of: their headings, and scripts that load them with the
// types of their columns. `has_samples`: as CaptureView; a file of counts has another table
// samples.

/// The columns of a table, joined by commas. Empty when there is no such table.
std::string csv_header(std::string_view table, bool has_samples);

/// For the duckdb shell and API, to be run in the directory of the tables.
std::string duckdb_script(bool has_samples);
/// For the sqlite3 shell, likewise.
std::string sqlite_script(bool has_samples);

}  // namespace stackpack::exporting
