#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "capture/callstack_sink.h"
#include "formats/etl/event/etl_clock.h"
#include "formats/etl/event/event_kinds.h"
#include "formats/etl/event/event_window.h"
#include "formats/etl/event_rows.h"

namespace stackpack::etl {

/// Whether an address belongs to the kernel, by its value alone (pointer size 4 or 8).
constexpr bool is_kernel_address(std::uint64_t address, std::uint8_t pointer_size) {
  return pointer_size == 4 ? address >= 0x80000000 : address >= 0xFFFF000000000000;
}

/// Turns events and frames into samples of the sink: times into nanoseconds, kinds into rows of the
/// event table, addresses into runs of modes.
class SampleWriter {
 public:
  /// All references must outlive the writer. `pointer_size` is the file's.
  SampleWriter(capture::CallstackSink& sink, EventRows& rows, EventKinds& kinds,
               const EtlClock& clock, std::uint8_t pointer_size)
      : sink_(sink), rows_(rows), kinds_(kinds), clock_(clock), pointer_size_(pointer_size) {}

  /// A recorded callstack, leaf first; the mode of each frame follows from its address.
  Status recorded(const EventFacts& event, std::span<const std::uint64_t> frames);

  /// A recorded callstack which is user mode throughout, whatever its addresses.
  Status recorded_user(const EventFacts& event, std::span<const std::uint64_t> frames);

  /// A profile sample without a callstack.
  Status ip_only(const EventFacts& event);

  /// Gives the rows of events the names that the trace had after their first samples.
  void rename_events();

  capture::PendingStack open_pending() { return sink_.open_pending(); }
  Status add_pending(const EventFacts& event, capture::PendingStack pending);
  Status resolve_pending(capture::PendingStack pending, std::span<const std::uint64_t> frames);

 private:
  Sample sample_of(const EventFacts& event, StackOrigin origin);
  std::uint32_t event_index(std::uint32_t kind);
  capture::StackView view_of(std::span<const std::uint64_t> frames);

  capture::CallstackSink& sink_;
  EventRows& rows_;
  EventKinds& kinds_;
  const EtlClock& clock_;
  std::uint8_t pointer_size_;
  std::vector<capture::ModeRun> runs_;
};

}  // namespace stackpack::etl
