// Which sizes a record of a type can have.
//
// A record whose type or size is damaged can still look like one: a sample whose type has become
// that of a mapping, a mapping whose size has grown over the samples after it. What the fields
// leave of the record gives it away: the format pads names to eight bytes and nothing else.
#pragma once

#include "bytes/byte_cursor.h"
#include "formats/perf/sample.h"

namespace stackpack::perf {

/// Whether `body`, what a kernel record of `type` holds between header and trailer, is as long as
/// its fields are. `layout` is that of its attribute. True for SAMPLE and CALLCHAIN_DEFERRED, whose
/// readers check this themselves.
bool fills_kernel_record(std::uint32_t type, bytes::ByteCursor body, const SampleLayout& layout);

/// Whether `payload`, what follows the header of a record of the perf tool, can be one of `type`.
bool fits_tool_record(std::uint32_t type, bytes::ByteCursor payload);

}  // namespace stackpack::perf
