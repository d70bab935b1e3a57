#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "capture/callstack_sink.h"
#include "capture/recent_chains.h"
#include "formats/etl/event/etl_clock.h"
#include "formats/etl/event/event_kinds.h"
#include "formats/etl/event/event_window.h"
#include "formats/etl/event_rows.h"
#include "formats/etl/stacks/frame_list.h"
#include "formats/etl/switch_records.h"

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
  /// Traces of one sink share `recent`.
  SampleWriter(capture::CallstackSink& sink, EventRows& rows, capture::RecentChains& recent,
               EventKinds& kinds, const EtlClock& clock, std::uint8_t pointer_size)
      : sink_(sink),
        knows_stacks_(sink.remembers_stacks()),
        rows_(rows),
        recent_(recent),
        kinds_(kinds),
        clock_(clock),
        pointer_size_(pointer_size) {}

  /// Callstacks of switches go to `switches`, too, which must outlive the writer.
  void use(SwitchRecords& switches) { switches_ = switches.active() ? &switches : nullptr; }

  /// A recorded callstack, leaf first: `frames` and then `more`. The mode of each frame follows
  /// from its address.
  Status recorded(const EventFacts& event, std::span<const std::uint64_t> frames,
                  std::span<const std::uint64_t> more = {});

  /// The same; `frames` and `more` hold whole 64-bit addresses.
  Status recorded_as_stored(const EventFacts& event, std::span<const std::byte> frames,
                            std::span<const std::byte> more);

  /// A recorded callstack which is user mode throughout, whatever its addresses.
  Status recorded_user(const EventFacts& event, std::span<const std::uint64_t> frames);

  /// A profile sample without a callstack.
  Status ip_only(const EventFacts& event);

  /// Hands over the recorded callstacks that wait to be looked for together. To be called before
  /// another writer's, and at the end.
  Status flush();

  /// Gives the rows of events the names that the trace had after their first samples.
  void rename_events();

  capture::PendingStack open_pending() { return sink_.open_pending(); }
  Status add_pending(const EventFacts& event, capture::PendingStack pending);
  Status resolve_pending(capture::PendingStack pending, std::span<const std::uint64_t> frames);

 private:
  // What the modes of a callstack's frames follow from besides the addresses.
  enum class Reading : std::uint8_t { kAddresses32, kAddresses64, kAllUser };

  // A recorded callstack of the group that is looked for together.
  struct Grouped {
    Sample sample;
    std::size_t begin = 0;  // of its frames
    std::size_t end = 0;
    std::uint64_t prepared = 0;
    std::uint32_t kind = 0;
    bool is_orphan = false;
    Reading reading = Reading::kAddresses64;
  };
  static constexpr std::size_t kTogether = 16;
  static constexpr std::size_t kFramesTogether = 4096;

  [[nodiscard]] Reading reading_of_addresses() const {
    return pointer_size_ == 4 ? Reading::kAddresses32 : Reading::kAddresses64;
  }
  void begin_in_group(const EventFacts& event, Reading reading);
  Status end_in_group();
  Status give(const Grouped& grouped);
  Status give(const Grouped& grouped, const capture::StackView& stack, capture::StackMemo memo);
  Sample sample_of(const EventFacts& event, StackOrigin origin);
  std::uint32_t event_index(std::uint32_t kind) {
    const EventKind& known = kinds_.at(kind);
    return known.known_to_sink ? known.sink_event : introduce(kind);
  }
  std::uint32_t introduce(std::uint32_t kind);
  capture::StackView view_of(std::span<const std::uint64_t> frames);

  capture::CallstackSink& sink_;
  bool knows_stacks_;  // the sink remembers: a known callstack need not be handed over
  EventRows& rows_;
  capture::RecentChains& recent_;
  EventKinds& kinds_;
  const EtlClock& clock_;
  std::uint8_t pointer_size_;
  SwitchRecords* switches_ = nullptr;  // null: nobody wants waits
  std::vector<capture::ModeRun> runs_;
  std::array<Grouped, kTogether> group_;
  std::size_t grouped_ = 0;
  FrameList frames_;  // of the group
};

}  // namespace stackpack::etl
