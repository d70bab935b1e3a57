#pragma once

#include <cstdint>

#include "bytes/byte_cursor.h"
#include "capture/system_recorder.h"
#include "core/index_table.h"
#include "formats/etl/event/etl_clock.h"
#include "formats/etl/event/event_header.h"
#include "formats/etl/event/event_kinds.h"
#include "formats/etl/event/payload_pointer.h"
#include "scratch/spill_space.h"
#include "scratch/spill_table.h"

namespace stackpack::etl {

/// Which process a thread event is about.
struct ThreadFacts {
  std::uint32_t pid = kNoId;
  std::uint32_t tid = kNoId;
};

/// Reads Process, Thread and Config events of all versions for the recorder.
///
/// Rundown events (DCStart, DCEnd) describe what was there before; of those at the end only the
/// ones count that nothing named before.
/// Payloads which are too short are passed over; damaged() counts them.
class KernelTables {
 public:
  /// All references must outlive this. What fails in `space` is in its status().
  KernelTables(scratch::SpillSpace& space, capture::SystemRecorder& system, const EtlClock& clock)
      : system_(system), clock_(clock), known_(space) {}

  /// Process 1 start, 2 end, 3 and 4 rundown, 39 defunct.
  void process_event(const EventView& event);

  /// Thread 1 start, 2 end, 3 and 4 rundown; 72 name.
  ThreadFacts thread_event(const EventView& event);
  void thread_name_event(const EventView& event);

  /// Group Config: type 10 describes the machine.
  void config_event(const EventView& event);

  /// PerfInfo 73: the interval of a profile source and, of a counter, its name.
  void interval_event(const EventView& event, EventKinds& kinds);

  [[nodiscard]] std::uint64_t damaged() const { return damaged_; }
  [[nodiscard]] std::uint64_t distinct_processes() const { return processes_; }
  [[nodiscard]] std::uint64_t distinct_threads() const { return threads_; }

 private:
  enum KnownFlags : std::uint32_t {
    kIsProcess = 1,
    kIsThread = 2,
    kCounted = 4,     ///< there was a start or DCStart event
    kAlive = 8,       ///< of a process; of a thread: `pid` is its process
    kMentioned = 16,  ///< of a process: it is known whether it is alive
  };
  struct Known {
    std::uint32_t id = 0;
    std::uint32_t flags = 0;
    std::uint32_t pid = 0;
    std::uint32_t unused = 0;
    [[nodiscard]] bool used() const { return flags != 0; }
    [[nodiscard]] std::uint64_t kind() const { return flags & (kIsProcess | kIsThread); }
    [[nodiscard]] std::uint64_t hash() const { return core::mix_bits((kind() << 32) | id); }
    [[nodiscard]] bool same_key(const Known& other) const {
      return id == other.id && kind() == other.kind();
    }
    [[nodiscard]] bool has(KnownFlags flag) const { return (flags & flag) != 0; }
  };

  /// What is known of a process or thread.
  [[nodiscard]] Known known(std::uint32_t id, KnownFlags kind) const {
    const Known fresh{id, kind, 0, 0};
    const Known found = known_.find(fresh);
    return found.used() ? found : fresh;
  }
  static void count(Known& known, std::uint64_t& counter) {
    counter += known.has(kCounted) ? 0U : 1U;
    known.flags |= kCounted;
  }

  capture::SystemRecorder& system_;
  const EtlClock& clock_;
  scratch::SpillTable<Known> known_;
  std::uint64_t processes_ = 0;
  std::uint64_t threads_ = 0;
  std::uint64_t damaged_ = 0;
};

/// Passes over the token user and SID in front of the names of a Process event.
void skip_sid_block(bytes::ByteCursor& in, std::uint8_t pointer_size);

}  // namespace stackpack::etl
