// The section label_sets, as docs/format.md has it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/column_codec.h"
#include "stackpack/labels.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Appends one block: sets as bytes::write_labels makes them.
void encode_label_sets(std::span<const std::string> sets, BlockContent& content);

/// Appends the sets of one block. Errors: kCorrupt.
Status decode_label_sets(bytes::ByteCursor in, std::vector<LabelSet>& sets);

}  // namespace stackpack::spk
