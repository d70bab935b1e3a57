#pragma once

#include <string>
#include <vector>

#include "stackpack/result.h"

namespace stackpack::app {

/// The files that `inputs` stand for: a folder for all .spk files and captures below it, by path;
/// anything else for itself. Files that are given twice come once.
/// Errors: kIo, Error::part is the input.
Result<std::vector<std::string>> files_to_merge(const std::vector<std::string>& inputs);

}  // namespace stackpack::app
