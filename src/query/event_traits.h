// What the name of an event says of what it counts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stackpack::query {

/// Kinds of events, in the order in which a report that shows one event prefers them.
enum class EventKind : std::uint8_t {
  kTime,   ///< samples say where time goes: clocks, cycles, profile interrupts
  kWork,   ///< counts of something else: instructions, misses, faults
  kTrace,  ///< something happened: tracepoints, system events, waits, code outside the runtime
};

struct EventTraits {
  EventKind kind = EventKind::kWork;
  /// Equal for events that count the same thing: `cpu-clock` of cpu-clock, cpu-clock:ppp and
  /// cpu-clock:pppH; `cycles:u` of cycles:u and cycles:uP, which leave the kernel out.
  std::string same_as;
  /// Whose counters counted it: `cpu_core` of cpu_core/cycles/; empty when it does not say. Events
  /// of other processors never count one thing twice.
  std::string processors;
  /// What a recorded period is counted in: "ns", "cycles", "page-faults", "events", ...
  std::string unit;
};

/// Cost: proportional to the name. Any bytes are good.
EventTraits traits_of(std::string_view event);

}  // namespace stackpack::query
