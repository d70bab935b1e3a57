// What was read and written, how long it took, and for whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/analysis/value_sums.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

enum class IoOrder : std::uint8_t { kBytes, kLatency, kCount };

struct IoReport {
  /// Kinds of operations: "disk read", "file write", "hard fault", "TCP send", ...
  std::vector<ValueSum> operations;
  std::vector<ValueSum> files;      ///< of disks and files: never network
  std::vector<ValueSum> functions;  ///< who asked for it
  std::vector<ValueSum> processes;
  std::size_t all_files = 0;
  std::size_t all_functions = 0;
};

/// `limit`: most rows of files, functions and processes; 0: all. A request to the file system that
/// reached the disk counts in both operations, and in its file for the disk alone where there are
/// disk events. Errors: as Reader::event_values().
Result<IoReport> io_report(const Reader& reader, IoOrder order, std::size_t limit);

}  // namespace stackpack::app
