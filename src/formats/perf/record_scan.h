#pragma once

#include <cstdint>

#include "formats/perf/capture_context.h"
#include "formats/perf/record_converter.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::perf {

/// Converts the records from `begin` to `end` of a seekable source, without reading what nobody
/// looks at: dumps of stacks are nearly all of a capture that has some. Where the context leaves
/// samples out, they are passed over; else long ones are converted as partial records.
///
/// Ends where a record is compressed, damaged, or out of the ordinary in another way.
/// Result: how far it came, a record's first byte; from there RecordStream goes on.
Result<std::uint64_t> scan_records(io::ByteSource& source, std::uint64_t begin, std::uint64_t end,
                                   CaptureContext& context, RecordConverter& converter);

}  // namespace stackpack::perf
