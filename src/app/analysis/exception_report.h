// Which exceptions were thrown, where, and where they were caught.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// What the exceptions of a row have in common: each has all that those before it have.
enum class ExceptionGroup : std::uint8_t { kType, kSite, kMessage };

/// Exceptions of one type, that one function threw, with one message.
struct ThrownException {
  std::string type;
  std::string message;   ///< the most frequent one
  std::string function;  ///< that threw most of them, below the runtime's own; empty: no callstack
  std::uint64_t count = 0;
  std::uint64_t first_ns = 0;
  std::uint64_t caught = 0;
  std::uint64_t rethrown = 0;  ///< thrown once more by who had caught them
  std::size_t messages = 0;    ///< different ones
  std::size_t functions = 0;
  /// Methods that caught them, the most frequent first, with how many.
  std::vector<std::pair<std::string, std::uint64_t>> catchers;
};

struct ExceptionReport {
  std::uint64_t count = 0;
  bool knows_catches = false;  ///< the recording has events of catches
  std::uint64_t caught = 0;
  std::uint64_t rethrown = 0;
  std::size_t all_rows = 0;
  /// The types with most exceptions first, of each the sites, of each the messages; equal ones by
  /// name.
  std::vector<ThrownException> rows;
};

/// `limit`: most rows; 0: all. Errors: as Reader::event_values().
Result<ExceptionReport> exception_report(const Reader& reader, ExceptionGroup by,
                                         std::size_t limit);

}  // namespace stackpack::app
