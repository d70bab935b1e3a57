// How much work the files of a comparison have done.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// From lines of a number and a file, which is a path as given or the last part of it; `#` begins a
/// remark. By path. Errors: kCorrupt with the offset of a line that is not such, whose wrong word
/// is in `problem`; kUsage, with the path's number as Error::part, for one that no line names.
Result<std::vector<double>> amounts_of_lines(std::string_view text,
                                             std::span<const std::string> paths,
                                             std::string& problem);

/// From the metadata entry `key` of each file. Errors: kUsage, with the file's number as
/// Error::part, where it is missing or no number above 0, and in `problem` what is there; those of
/// the reader.
Result<std::vector<double>> amounts_of_metadata(std::string_view key,
                                                std::span<const Reader* const> files,
                                                std::string& problem);

/// What is wrong with the name of a unit of work, which is a word, such as `request`; empty:
/// nothing.
std::string problem_of_unit(std::string_view word);

}  // namespace stackpack::app
