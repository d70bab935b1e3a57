// Which locks threads waited for, where, and who held them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/analysis/event_value_table.h"
#include "app/analysis/lock_waits.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

enum class LockGroup : std::uint8_t { kLock, kHolder, kWaiter, kCallstack, kClass };

struct LockQuery {
  LockGroup by = LockGroup::kLock;
  bool all = false;  ///< with waits for what is no lock
  std::string lock;  ///< a pattern of lock_text(); empty: all
  std::uint64_t longer_than_ns = 0;
  std::optional<std::uint32_t> pid;
  std::optional<std::uint32_t> tid;  ///< who waits
};

/// Waits that have a name in common.
struct LockShare {
  std::string name;
  std::uint64_t waits = 0;
  std::uint64_t ns = 0;
};

struct LockRow {
  std::string name;          ///< of what rows are: a lock, a thread, a function, a class
  std::string kind;          ///< of its first wait
  std::string process;       ///< `NAME (PID)`
  StackId stack = kNoStack;  ///< of its longest wait
  std::uint64_t waits = 0;
  std::uint64_t ns = 0;
  std::uint64_t longest_ns = 0;
  // The most time first.
  std::vector<LockShare> waiters;  ///< threads
  std::vector<LockShare> holders;  ///< threads, and where they had waited for the lock themselves
  std::vector<LockShare> places;   ///< functions that waited
};

struct LockReport {
  LockGroup by = LockGroup::kLock;
  std::uint64_t waits = 0;
  std::uint64_t ns = 0;
  std::uint64_t between_ns = 0;  ///< from begins to ends, whatever the recorder says of lengths
  std::uint64_t longest_ns = 0;
  std::uint64_t not_locks = 0;  ///< waits that are no waits for locks, and were not asked for
  std::uint64_t not_locks_ns = 0;
  LockWaitsLeft left;
  std::vector<LockRow> rows;  ///< the most time first, equal ones by name
  std::size_t all_rows = 0;
};

/// `0x200806cf448`, `-` of one that is not known.
std::string lock_text(const LockWait& wait);

/// Whether a query asks for a wait.
bool is_asked_for(const LockQuery& query, const LockWait& wait);

/// `limit`: most rows; 0: all. Errors: as Reader::event_values().
Result<LockReport> lock_report(const Reader& reader, const LockQuery& query, std::size_t limit);

}  // namespace stackpack::app
