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

/// Memory of a process that one callstack committed.
struct HeldStack {
  StackId stack = kNoStack;  ///< none: the event has no callstack
  std::uint32_t pid = kUnknownId;
  std::uint64_t bytes = 0;
  std::uint64_t ranges = 0;
};

struct IoReport {
  /// Kinds of operations: "disk read", "file write", "hard fault", "TCP send", ...
  std::vector<ValueSum> operations;
  std::vector<ValueSum> files;      ///< of disks and files: never network
  std::vector<ValueSum> functions;  ///< who asked for it
  std::vector<ValueSum> processes;
  std::size_t all_files = 0;
  std::size_t all_functions = 0;
  std::uint64_t committed = 0;   ///< commits and releases of virtual memory; 0: none were recorded
  std::uint64_t held_bytes = 0;  ///< committed, and not released up to the end
  std::uint64_t most_held_bytes = 0;  ///< at one time
  std::vector<ValueSum> held;         ///< who committed that: by function
  std::size_t all_held = 0;
  std::vector<HeldStack> held_stacks;  ///< the same by callstack and process
  std::uint64_t commits_over_limit = 0;
};

/// `limit`: most rows of files, functions and processes; 0: all. A request to the file system that
/// reached the disk counts in both operations, and in its file for the disk alone where there are
/// disk events. Errors: as Reader::event_values().
Result<IoReport> io_report(const Reader& reader, IoOrder order, std::size_t limit);

}  // namespace stackpack::app
