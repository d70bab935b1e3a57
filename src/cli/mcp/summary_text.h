// Answers of `stackpack mcp` that no other command prints.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "app/analysis/hot_spot_query.h"
#include "app/listing/capture_facts.h"
#include "app/mcp/allowed_folders.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::cli {

/// What a summary says that is not in the statistics of the file.
struct SummaryFigures {
  app::CaptureFacts facts;
  std::size_t functions = 0;  ///< with names
  // Of the whole; by self, largest first. Empty where no sample is selected.
  std::optional<app::HotSpots> by_module;
  std::optional<app::HotSpots> by_process;
};

/// All but the rows. Errors: those of the reader.
Result<SummaryFigures> summary_figures(const Reader& reader);

struct SummaryForm {
  std::string file;      ///< as the client calls it
  std::size_t rows = 0;  ///< most rows of each table
  bool whole = false;    ///< with what the samples are in: modules and processes
};

/// Adds an object with figures of `stats --json`, under the same keys, and, of the whole, the first
/// rows of `top --by module` and `--by process`.
void append_summary(std::string& out, const Reader& reader, const SummaryFigures& figures,
                    const SummaryForm& form);

/// Adds the list of files that can be opened.
void append_offered_files(std::string& out, const app::OfferedFiles& offered, std::size_t rows);

/// Adds what opens a page at a function; `function` may be empty.
void append_page_link(std::string& out, const std::string& file, const std::string& function);

}  // namespace stackpack::cli
