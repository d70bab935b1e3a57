#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "formats/etl/file/log_file_header.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::etl {

/// An input of a session and what its header says.
struct TraceInput {
  io::ByteSource* source = nullptr;
  std::size_t number = 0;  ///< among the inputs as they were given
  LogFileHeader header;
};

/// Puts traces into an order that depends on their bytes alone: by start, size, then content. Takes
/// out those with the same bytes as another one.
/// Result: how many were taken out; errors of reading.
Result<std::size_t> order_traces(std::vector<TraceInput>& traces);

}  // namespace stackpack::etl
