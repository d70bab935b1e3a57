// The column of names in a table of rows: what is left of a terminal's width.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "app/listing/function_titles.h"

namespace stackpack::cli {

/// Columns of the terminal that standard output is; nothing where it is none: lines may be of any
/// length then.
std::optional<std::size_t> output_columns();

/// Whether standard output is a terminal that shows colours, and the user wants them.
bool output_has_colours();

/// How functions are called when nobody says: short in text for people, full in JSON.
app::FunctionNames names_or_default(std::optional<app::FunctionNames> asked, bool json = false);

/// A row's name and, last in the line, its bar. The name is padded where a bar follows.
void append_name_and_bar(std::string& out, std::string_view name, std::size_t width,
                         std::string_view bar);

}  // namespace stackpack::cli
