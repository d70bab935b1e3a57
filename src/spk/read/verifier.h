#pragma once

#include "spk/read/block_reader.h"
#include "spk/read/branch_stack_store.h"
#include "spk/read/dag_store.h"
#include "spk/read/file_opener.h"
#include "spk/read/sample_blocks.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// The parts of an open file that verification reads.
struct VerifiedParts {
  BlockReader& blocks;
  const OpenedFile& file;
  DagStore& dag;
  BranchStackStore& branch_stacks;
  SampleBlocks& samples;
};

/// Reads everything: see Reader::verify().
/// Memory: seven bytes per callstack, besides what the parts hold.
Status verify(const Reader& reader, const VerifiedParts& parts);

}  // namespace stackpack::spk
