// The sections branch_edges and branch_ranges: blocks of rows in columns, as docs/format.md has
// them.
#pragma once

#include <span>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/column_codec.h"
#include "stackpack/branches.h"
#include "stackpack/result.h"

namespace stackpack::spk {

// Append one block of at most kRowsPerTableBlock rows, which are in order.
void encode_branches(std::span<const BranchEdge> rows, BlockContent& content);
void encode_branches(std::span<const BranchRange> rows, BlockContent& content);

/// Whether a row may be in a file, after `before` unless that is null: in order, no part more than
/// the whole. A writer refuses what a reader would.
bool may_follow(const BranchEdge& row, const BranchEdge* before);
bool may_follow(const BranchRange& row, const BranchRange* before);

// Append the rows of one block. Errors: kCorrupt, also when rows are not in order, or a part is
// more than the whole.
Status decode_branches(bytes::ByteCursor in, std::vector<BranchEdge>& rows);
Status decode_branches(bytes::ByteCursor in, std::vector<BranchRange>& rows);

// The section branch_entries, as docs/format.md has it.

/// Appends one block of at most kBranchEntriesPerBlock rows, which have no cycles.
void encode_branch_entries(std::span<const StackedBranch> rows, BlockContent& content);

/// Appends the rows of one block to `rows`. Errors: kCorrupt.
Status decode_branch_entries(bytes::ByteCursor in, std::vector<StackedBranch>& rows);

}  // namespace stackpack::spk
