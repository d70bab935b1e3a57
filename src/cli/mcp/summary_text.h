// Answers of `stackpack mcp` that no other command prints.
#pragma once

#include <cstddef>
#include <string>

#include "app/mcp/allowed_folders.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::cli {

struct SummaryForm {
  std::string file;      ///< as the client calls it
  std::size_t rows = 0;  ///< most rows of each table
  bool whole = false;    ///< with what the samples are in: modules and processes
};

/// Adds an object with figures of `stats --json`, under the same keys, and, of the whole, the first
/// rows of `top --by module` and `--by process`. Errors: those of the reader.
Status append_summary(std::string& out, const Reader& reader, const SummaryForm& form);

/// Adds the list of files that can be opened.
void append_offered_files(std::string& out, const app::OfferedFiles& offered, std::size_t rows);

/// Adds what opens a page at a function; `function` may be empty.
void append_page_link(std::string& out, const std::string& file, const std::string& function);

}  // namespace stackpack::cli
