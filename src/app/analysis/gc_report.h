// What the garbage collector did, and for whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/analysis/event_value_table.h"
#include "stackpack/event_values.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// One collection of a process.
struct Collection {
  std::uint64_t number = 0;
  std::uint64_t generation = kNoValue;
  std::uint64_t reason = kNoValue;
  std::uint64_t type = kNoValue;  ///< 1: in the background
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = kNoValue;  ///< none: its end was not recorded
  std::uint64_t pause_ns = 0;      ///< of the program, for it
};

/// Sizes of the heap after a collection, in bytes.
struct HeapSizes {
  std::uint64_t generations[3] = {};
  std::uint64_t large = 0;
  std::uint64_t pinned = 0;
  std::uint64_t promoted = 0;

  [[nodiscard]] std::uint64_t total() const {
    return generations[0] + generations[1] + generations[2] + large + pinned;
  }
};

struct GcProcess {
  std::string name;
  std::uint32_t pid = kUnknownId;
  std::vector<Collection> collections;  ///< in order of time
  std::uint64_t pauses = 0;             ///< for collections
  std::uint64_t pause_ns = 0;
  std::uint64_t longest_ns = 0;
  std::uint64_t other_pauses = 0;  ///< for anything else: samplers, debuggers, moved code
  std::uint64_t other_pause_ns = 0;
  std::uint64_t from_ns = 0;  ///< first and last value of the process
  std::uint64_t to_ns = 0;
  std::uint64_t recorded_ns = 0;      ///< how long the capture is in which it is
  std::optional<HeapSizes> heap{};    ///< after the last collection
  std::uint64_t largest_heap = 0;     ///< after any
  std::uint64_t allocated_bytes = 0;  ///< as sampled
  std::uint64_t allocations = 0;      ///< samples of them
};

struct GcReport {
  std::uint64_t from_ns = 0;  ///< of the recording
  std::uint64_t to_ns = 0;
  std::vector<GcProcess> processes;  ///< those with most pauses first
  std::vector<ValueSum> types;       ///< who allocates, by bytes
  std::vector<ValueSum> functions;
  std::size_t all_types = 0;
  std::size_t all_functions = 0;
};

/// `limit`: most rows of types and functions; 0: all. Errors: as Reader::event_values().
Result<GcReport> gc_report(const Reader& reader, std::size_t limit);

/// "small allocations", "induced", ...; "-" when it is not known.
std::string_view gc_reason_name(std::uint64_t reason);

}  // namespace stackpack::app
