// The section branch_entries, as docs/format.md has it.
#pragma once

#include <span>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/column_codec.h"
#include "stackpack/branches.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Appends one block of at most kBranchEntriesPerBlock rows, which have no cycles.
void encode_branch_entries(std::span<const StackedBranch> rows, BlockContent& content);

/// Appends the rows of one block to `rows`. Errors: kCorrupt.
Status decode_branch_entries(bytes::ByteCursor in, std::vector<StackedBranch>& rows);

}  // namespace stackpack::spk
