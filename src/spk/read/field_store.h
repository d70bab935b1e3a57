#pragma once

#include <functional>
#include <span>

#include "spk/format/directory.h"
#include "spk/read/block_reader.h"
#include "stackpack/result.h"
#include "stackpack/sample_fields.h"

namespace stackpack::spk {

/// Visits the fields of all samples that have any, block by block, in the order of the samples,
/// until the visitor returns false. Errors: kIo, kCorrupt: rows of samples that are not there, are
/// not in order, or not as many as the directory says.
Status read_fields(BlockReader& blocks, const Directory& directory,
                   const std::function<bool(std::span<const FieldRow>)>& visit);

/// The rows of block `number` of the section, into `rows` (replaced); none beyond the last.
/// Errors: kIo, kCorrupt.
Status read_field_block(BlockReader& blocks, const Directory& directory, std::size_t number,
                        std::vector<FieldRow>& rows);

}  // namespace stackpack::spk
