// The summary section: the statistics of the conversion and its fingerprint, in one block.
//
//   varint  numbers
//   u64[]   the numbers of Statistics in the order of docs/format.md. A reader takes those it
//   knows;
//           those that an older writer did not write are 0.
//   text    source kind            text: varint length, bytes
//   text    fingerprint
//   varint  events;   per event: text name, varint samples
//   varint  losses;   per loss: text name, u8 kind, varint count, varint first offset + 1 (0: none)
//   varint  reasons;  per reason: text name, varint bytes of the capture that were skipped for it;
//           summaries of older writers end before
// What follows belongs to later minor versions.
#pragma once

#include <string>
#include <string_view>

#include "bytes/byte_cursor.h"
#include "spk/format/column_codec.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"

namespace stackpack::spk {

void encode_summary(const Statistics& statistics, std::string_view fingerprint,
                    BlockContent& content);

/// Errors: kCorrupt.
Status decode_summary(bytes::ByteCursor in, Statistics& statistics, std::string& fingerprint);

}  // namespace stackpack::spk
