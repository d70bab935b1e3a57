// The section sample_fields, as docs/format.md has it.
#pragma once

#include <span>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/column_codec.h"
#include "stackpack/result.h"
#include "stackpack/sample_fields.h"

namespace stackpack::spk {

/// Appends one block of at most kFieldRowsPerBlock rows, in the order of their samples.
void encode_fields(std::span<const FieldRow> rows, BlockContent& content);

/// The rows of one block, into `rows` (replaced). Fields that this version does not know are passed
/// over. Errors: kCorrupt, also when a row names a sample that is not below `samples`.
Status decode_fields(bytes::ByteCursor in, std::uint64_t samples, std::vector<FieldRow>& rows);

}  // namespace stackpack::spk
