#pragma once

#include "spk/format/directory.h"
#include "spk/read/block_reader.h"
#include "stackpack/names.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Reads the sections of names; what is not there has no rows. Errors: kIo, kCorrupt: rows out of
/// order, a text, inlined call or module that is not there, more inlined calls at lines than may
/// be.
Result<Names> read_names(BlockReader& blocks, const Directory& directory);

}  // namespace stackpack::spk
