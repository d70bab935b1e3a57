// What the runtime compiled while the program ran.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/analysis/event_value_table.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

struct JitReport {
  std::uint64_t methods = 0;  ///< compilations: a method may be compiled several times
  std::uint64_t ns = 0;       ///< of those whose end was recorded
  std::uint64_t code_bytes = 0;
  std::uint64_t il_bytes = 0;
  // Bytes are those of the code.
  std::vector<ValueSum> tiers;
  std::vector<ValueSum> processes;
  std::vector<ValueSum> slowest;  ///< methods
  std::vector<ValueSum> callers;  ///< in whose first call methods were compiled
  std::size_t all_methods = 0;
  std::size_t all_callers = 0;
};

/// `limit`: most methods and callers; 0: all. Errors: as Reader::event_values().
Result<JitReport> jit_report(const Reader& reader, std::size_t limit);

}  // namespace stackpack::app
