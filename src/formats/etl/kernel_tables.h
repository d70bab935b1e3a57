#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "capture/system_recorder.h"
#include "formats/etl/etl_clock.h"
#include "formats/etl/event_header.h"
#include "formats/etl/event_kinds.h"
#include "io/byte_cursor.h"

namespace stackpack::etl {

/// Which process a thread event is about.
struct ThreadFacts {
  std::uint32_t pid = kNoId;
  std::uint32_t tid = kNoId;
};

/// Reads Process, Thread and Config events of all versions and tells the recorder.
///
/// Rundown events (DCStart, DCEnd) describe what was there before; of those at the end only the
/// ones count that nothing told before.
/// Payloads which are too short are passed over; damaged() counts them.
class KernelTables {
 public:
  KernelTables(capture::SystemRecorder& system, const EtlClock& clock)
      : system_(system), clock_(clock) {}

  /// Process 1 start, 2 end, 3 and 4 rundown, 39 defunct.
  void process_event(const EventView& event);

  /// Thread 1 start, 2 end, 3 and 4 rundown; 72 name.
  ThreadFacts thread_event(const EventView& event);
  void thread_name_event(const EventView& event);

  /// Group Config: type 10 tells of the machine.
  void config_event(const EventView& event);

  /// PerfInfo 73: the interval of a profile source and, of a counter, its name.
  void interval_event(const EventView& event, EventKinds& kinds);

  [[nodiscard]] std::uint64_t damaged() const { return damaged_; }
  [[nodiscard]] std::uint64_t distinct_processes() const { return process_ids_.size(); }
  [[nodiscard]] std::uint64_t distinct_threads() const { return thread_ids_.size(); }

 private:
  capture::SystemRecorder& system_;
  const EtlClock& clock_;
  std::unordered_map<std::uint32_t, bool> alive_;           // by pid
  std::unordered_map<std::uint32_t, std::uint32_t> owner_;  // pid by tid of living threads
  std::unordered_set<std::uint32_t> process_ids_;           // of start and DCStart events
  std::unordered_set<std::uint32_t> thread_ids_;
  std::uint64_t damaged_ = 0;
};

/// Passes over the token user and SID in front of the names of a Process event.
void skip_sid_block(io::ByteCursor& in, std::uint8_t pointer_size);

/// The next pointer of the payload's size, as 64 bits.
inline std::uint64_t read_pointer(io::ByteCursor& in, std::uint8_t pointer_size) {
  return pointer_size == 4 ? in.read<std::uint32_t>() : in.read<std::uint64_t>();
}

}  // namespace stackpack::etl
