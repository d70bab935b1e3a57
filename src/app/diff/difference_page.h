// A page that shows a comparison.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "export/html/page_content.h"
#include "stackpack/diff.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

// What the captures of one side of a comparison have lost, for its page.

/// The counters of the captures, summed up by name over the runs of the side, then the samples that
/// are no callstacks. `label`: of the side, stands before each text. `without_callstack`: samples
/// of the comparison that have none.
std::vector<exporting::PageLoss> losses_of_side(std::span<const Reader* const> runs,
                                                std::string_view label,
                                                std::uint64_t without_callstack);

struct DifferencePage {
  std::string about_json;           ///< the object `diff` of docs/page-format.md
  std::span<const DiffRow> rows;    ///< the verdicts, which may be of other things than functions
  std::string output;               ///< "-": standard output
  bool force = false;               ///< replace an existing file that is not empty
  std::vector<std::string> inputs;  ///< paths of the readers' files; the output is none of them
};

/// Writes the callstacks of both sides as one tree with the weights of each, and the verdicts on
/// functions. The output appears
/// whole or not at all. Result: its bytes.
/// Memory: that of a comparison by callstack. Errors: as compare_profiles; those of the output have
///         its part.
Result<std::uint64_t> write_difference_page(std::span<const Reader* const> before,
                                            std::span<const Reader* const> after,
                                            const DiffOptions& options, const DifferencePage& page);

}  // namespace stackpack::app
