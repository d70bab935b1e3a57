#pragma once

#include "spk/format/directory.h"
#include "spk/read/block_reader.h"
#include "stackpack/branches.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Reads the sections of branches; what is not there has no rows. Errors: kIo, kCorrupt: rows out
/// of order, counts that cannot be, an event or module that is not there.
Result<Branches> read_branches(BlockReader& blocks, const Directory& directory);

}  // namespace stackpack::spk
