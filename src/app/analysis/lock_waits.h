// Waits for locks, one row a wait, whatever recorded them. A file has the events as they were
// recorded; begin and end of a wait are brought together here.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "app/analysis/event_value_table.h"
#include "stackpack/event_values.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::app {

struct LockWait {
  std::string_view source;  ///< "contention", "wait": what recorded it
  std::string_view kind;    ///< "managed", "runtime", "handle", "monitor wait"
  bool is_lock = true;      ///< false: a thread waits for an event, not for its turn
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
  std::uint64_t ns = 0;           ///< as the recorder says it, else from begin to end
  std::uint64_t lock = kNoValue;  ///< its number or address; kNoValue: not recorded
  std::uint64_t object = kNoValue;
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::uint32_t holder = kUnknownId;  ///< thread that had the lock when the wait began
  StackId stack = kNoStack;           ///< of the wait
  StackId holder_stack = kNoStack;    ///< with which the holder had waited for this lock before
};

/// What is no whole wait.
struct LockWaitsLeft {
  std::uint64_t still_waiting = 0;  ///< they had no end in the recording
  std::uint64_t without_begin = 0;  ///< nor a length
};

/// Calls `visit` for each wait, in the order in which they ended.
///
/// Of .NET: Contention/Start and Stop, WaitHandleWait/Start and Stop of one thread; a start without
/// a stop is forgotten at the next one. Memory: an entry for each thread that waits and for each
/// lock and thread, kMostHeld at most.
/// Errors: as Reader::event_values().
Result<LockWaitsLeft> visit_lock_waits(const EventValueTable& values,
                                       const std::function<void(const LockWait&)>& visit);

}  // namespace stackpack::app
