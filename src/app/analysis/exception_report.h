// Which exceptions were thrown, and where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Exceptions of one type and message that one function threw.
struct ThrownException {
  std::string type;
  std::string message;
  std::string function;  ///< empty: no callstack
  std::uint64_t count = 0;
  std::uint64_t first_ns = 0;
};

struct ExceptionReport {
  std::uint64_t count = 0;
  std::size_t all_rows = 0;
  std::vector<ThrownException>
      rows;  ///< most frequent first, equal ones by type, message, function
};

/// `limit`: most rows; 0: all. Errors: as Reader::event_values().
Result<ExceptionReport> exception_report(const Reader& reader, std::size_t limit);

}  // namespace stackpack::app
