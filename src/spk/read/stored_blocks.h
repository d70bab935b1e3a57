#pragma once

#include "spk/format/directory.h"
#include "spk/read/block_reader.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Checks every block of a file against its checksum, without a look at what the blocks mean: what
/// is copied as it is was sound then. Sections that this version does not know and whose blocks an
/// index lists are passed over.
/// Memory: a block, and an index block.
/// Errors: those of BlockReader::read_stored(); kCorrupt: an index does not fit its section.
Status check_stored_blocks(BlockReader& blocks, const Directory& directory);

}  // namespace stackpack::spk
