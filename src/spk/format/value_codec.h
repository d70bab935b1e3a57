// The sections event_values, value_kinds and value_texts, as docs/format.md has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/column_codec.h"
#include "stackpack/event_values.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// What rows of event values may name.
struct ValueBounds {
  std::uint64_t stacks = 0;
  std::uint64_t texts = 0;
  std::span<const ValueSchema> kinds;
};

/// Whether its kind and its callstack are among those. A writer refuses what a reader would.
bool is_within(const EventValue& row, const ValueBounds& bounds);

/// Appends one block of at most kValuesPerBlock rows, which are in order of time.
void encode_values(std::span<const EventValue> rows, std::span<const ValueSchema> kinds,
                   BlockContent& content);

/// The rows of one block, into `rows` (replaced). Errors: kCorrupt.
Status decode_values(bytes::ByteCursor in, const ValueBounds& bounds,
                     std::vector<EventValue>& rows);

/// All kinds, in one block.
void encode_value_kinds(std::span<const ValueSchema> kinds, BlockContent& content);
Status decode_value_kinds(bytes::ByteCursor in, std::vector<ValueSchema>& kinds);

/// Texts of one block, which are appended to `texts`.
void encode_value_texts(std::span<const std::string> texts, BlockContent& content);
Status decode_value_texts(bytes::ByteCursor in, std::vector<std::string>& texts);

}  // namespace stackpack::spk
