// What was read and written, how long it took, and for whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/analysis/event_value_table.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

enum class IoOrder : std::uint8_t { kBytes, kLatency, kCount };

/// Memory of a process that one callstack committed, or allocated.
struct HeldStack {
  StackId stack = kNoStack;  ///< none: the event has no callstack
  std::uint32_t pid = kUnknownId;
  std::uint64_t bytes = 0;
  std::uint64_t ranges = 0;
};

/// Memory that is held at the end.
struct HeldReport {
  std::uint64_t operations = 0;  ///< 0: none were recorded
  std::uint64_t bytes = 0;
  std::uint64_t most_bytes = 0;     ///< at one time
  std::vector<ValueSum> functions;  ///< for whom
  std::size_t all_functions = 0;
  std::vector<HeldStack> stacks;  ///< the same by callstack and process
  std::uint64_t over_limit = 0;   ///< ranges that were not followed
};

struct IoReport {
  /// Kinds of operations: "disk read", "file write", "hard fault", "TCP send", ...
  std::vector<ValueSum> operations;
  std::vector<ValueSum> files;      ///< of disks and files: never network
  std::vector<ValueSum> functions;  ///< who asked for it
  std::vector<ValueSum> processes;
  std::size_t all_files = 0;
  std::size_t all_functions = 0;
  HeldReport memory;  ///< committed by VirtualAlloc
  HeldReport heap;    ///< allocated on heaps, which lies in that
};

/// `limit`: most rows of files, functions and processes; 0: all. A request to the file system that
/// reached the disk counts in both operations, and in its file for the disk alone where there are
/// disk events. Errors: as Reader::event_values().
Result<IoReport> io_report(const Reader& reader, IoOrder order, std::size_t limit);

}  // namespace stackpack::app
