#pragma once

#include <cstdint>
#include <optional>

#include "bytes/byte_cursor.h"
#include "formats/perf/attr.h"
#include "stackpack/model.h"

namespace stackpack::perf {

/// The sample_id fields at the end of a kernel record other than SAMPLE.
struct RecordTrailer {
  std::size_t bytes = 0;  ///< it takes; 0 when records have none
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::uint64_t time_ns = kUnknownTime;  ///< unknown, too, in a record that the perf tool made
  std::uint64_t id = 0;
  std::uint32_t cpu = kUnknownId;
};

/// Reads the trailer of a record with this payload and attribute.
/// Result: nothing when the payload is shorter than its trailer.
/// Source: perf_event_open(2), struct sample_id.
std::optional<RecordTrailer> read_trailer(bytes::ByteCursor payload, const Attr& attr);

}  // namespace stackpack::perf
