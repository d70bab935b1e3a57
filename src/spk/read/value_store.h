#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "spk/format/directory.h"
#include "spk/read/block_reader.h"
#include "stackpack/event_values.h"
#include "stackpack/labels.h"
#include "stackpack/result.h"
#include "stackpack/sample_fields.h"

namespace stackpack::spk {

/// The kinds of event values; none in a file without. Errors: kIo, kCorrupt.
Result<std::vector<ValueSchema>> read_value_kinds(BlockReader& blocks, const Directory& directory);

/// The texts of event values, by number. Errors: kIo, kCorrupt.
Result<std::vector<std::string>> read_value_texts(BlockReader& blocks, const Directory& directory);

/// Visits all values, block by block, in order of time. Errors: kIo, kCorrupt: rows that name a
/// callstack, kind or text that is not there, are not in order, or not as many as the directory
/// says.
Status read_values(BlockReader& blocks, const Directory& directory, std::uint64_t stacks,
                   const std::function<bool(std::span<const EventValue>)>& visit);

/// Visits the fields of all samples that have any, block by block, in the order of the samples,
/// until the visitor returns false. Errors: kIo, kCorrupt: rows of samples that are not there, are
/// not in order, or not as many as the directory says.
Status read_fields(BlockReader& blocks, const Directory& directory,
                   const std::function<bool(std::span<const FieldRow>)>& visit);

/// The rows of block `number` of the section, into `rows` (replaced); none beyond the last.
/// Errors: kIo, kCorrupt.
Status read_field_block(BlockReader& blocks, const Directory& directory, std::size_t number,
                        std::vector<FieldRow>& rows);

/// Visits all sets of labels, block by block, until the visitor returns false. Errors: kIo,
/// kCorrupt.
Status read_label_sets(BlockReader& blocks, const Directory& directory,
                       const std::function<bool(std::span<const LabelSet>)>& visit);

}  // namespace stackpack::spk
