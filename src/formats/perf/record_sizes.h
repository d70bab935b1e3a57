// Which sizes a record of a type can have.
//
// A record whose type or size is damaged can still look like one: a sample whose type has become
// that of a mapping, a mapping whose size has grown over the samples after it. What the fields
// leave of the record gives it away: only names have padding, and that is zeros.
#pragma once

#include "bytes/byte_cursor.h"
#include "formats/perf/attr_table.h"
#include "formats/perf/record_trailer.h"

namespace stackpack::perf {

/// How a record's fields and its size agree.
enum class RecordFit : std::uint8_t {
  kExact,     ///< the fields fill it, but for padding
  kOverlong,  ///< it may go on after its name: what follows is no padding
  kNone,      ///< no such record is written
};

/// A kernel record, split where its fields end.
struct KernelRecord {
  RecordFit fit = RecordFit::kNone;
  bytes::ByteCursor body{{}, 0};
  RecordTrailer
      trailer;  ///< none if the record was written without the one that its event announces
};

/// Splits the payload of a record of `type`, whose attribute is that of `row`, and compares its
/// size with its fields. Always exact for SAMPLE and CALLCHAIN_DEFERRED, whose readers check this
/// themselves.
KernelRecord read_kernel_record(std::uint32_t type, bytes::ByteCursor payload,
                                const AttrTable::Row& row);

/// Whether `payload`, what follows the header of a record of the perf tool, can be one of `type`.
bool fits_tool_record(std::uint32_t type, bytes::ByteCursor payload);

/// Whether the data of a TRACING_DATA record with this payload lie in the record: u32 size, the
/// data, zeros. Else as many bytes follow it.
bool tracing_data_inside(bytes::ByteCursor payload);

}  // namespace stackpack::perf
