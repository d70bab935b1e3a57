#pragma once

#include "spk/write/name_writer.h"
#include "stackpack/names.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Writes all rows of `names`, which are in the order of a file; the caller ends the writer.
/// Errors: those of the writer.
Status write_rows(const Names& names, spk::NameWriter& writer);

}  // namespace stackpack::app
