#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/index_table.h"
#include "formats/etl/event/event_header.h"
#include "formats/etl/names/method_events.h"

namespace stackpack::etl {

/// What the reader does with events of a kind.
enum class EventRole : std::uint8_t {
  kPlain,           ///< nothing but to remember it, should a stack come for it
  kIgnored,         ///< metadata which no stack belongs to
  kProfile,         ///< SampledProfile
  kCounterProfile,  ///< a sample of a performance counter
  kContextSwitch,   ///< its stack belongs to the new thread
  kReadyThread,
  kStackInline,     ///< StackWalk with frames
  kStackRefKernel,  ///< StackWalk with a key
  kStackRefUser,
  kStackDefinition,  ///< the frames of a key
  kProcess,
  kThread,
  kThreadName,
  kImage,
  kImageId,          ///< ImageId class: RSDS records and others
  kSystemConfig,     ///< system config class: volume mapping and others
  kHardwareConfig,   ///< group Config
  kInterval,         ///< PerfInfo collection start
  kClr,              ///< an event of a .NET runtime provider
  kClassicClrStack,  ///< a stack walk in the old class form
  kEventInfo,        ///< names of events that a merge adds
  kManifest,         ///< a provider's own manifest
};

/// Types of events of the system config class which are read.
enum SystemConfigTypes : std::uint8_t { kBuildInfo = 32, kSystemPaths = 33, kVolume = 35 };
/// Of the ImageId class: which PDB belongs to an image.
inline constexpr std::uint8_t kRsds = 36;
/// Of the group Config: processors and memory.
inline constexpr std::uint8_t kCpuConfig = 10;

/// The .NET runtime providers, counted from 0; kNoRuntime for the others.
inline constexpr std::uint8_t kNoRuntime = 0xFF;
inline constexpr std::size_t kRuntimeCount = 3;  ///< runtime, private runtime, classic classes

/// What is done with events of a kind.
struct EventUse {
  EventRole role = EventRole::kPlain;
  MethodRole method = MethodRole::kNone;
  std::uint8_t runtime = kNoRuntime;
  bool valued = false;    ///< what it says goes to the values of events
  bool weighted = false;  ///< samples weigh bytes
  bool kept = true;       ///< what it says is read; else nothing but a callstack that comes for it
};

/// One kind of event: identity without time, thread and payload.
struct EventKind {
  EventClass cls = EventClass::kKernel;
  EventUse use;
  std::uint8_t group = 0;
  std::uint8_t type = 0;  ///< type, or opcode
  std::uint16_t version = 0;
  std::uint16_t id = 0;     ///< of a provider's event; or the source of counter samples
  bool one_source = false;  ///< samples of one performance counter, see EventKinds::of_counter
  std::string counter;      ///< the name of that counter, if the trace has it
  bool one_title = false;   ///< events of one name among others, see EventKinds::of_title
  std::string title;        ///< what the trace calls the event, if it does
  Guid guid;
  std::uint64_t count = 0;
  std::uint32_t sink_event = 0;  ///< index in the sink's event table
  bool known_to_sink = false;
};

/// Numbers the kinds of events of a trace, and counts each.
///
/// Bound: at most kMaxKinds; the events of further kinds share the last one, kOtherKind.
class EventKinds {
 public:
  static constexpr std::uint32_t kUnknownKind = 0;  ///< for stacks whose event is not found
  static constexpr std::uint32_t kOtherKind = 1;
  static constexpr std::size_t kMaxKinds = 16384;
  /// Bytes of the names of counters. The others go by their numbers.
  static constexpr std::size_t kMaxNameBytes = std::size_t{1} << 20;

  EventKinds();

  /// The number of the event's kind, whose count goes up by one. Sets `use`, which is right for
  /// events of kOtherKind, too.
  std::uint32_t classify(const EventView& event, EventUse& use) {
    if (event.cls != EventClass::kKernel) {
      return look_up(event, use);
    }
    const std::uint32_t identity =
        (std::uint32_t{event.version} << 16) | (std::uint32_t{event.group} << 8) | event.type;
    Recent& recent = recent_[(std::size_t{event.group} * 5 + event.type) % recent_.size()];
    if (recent.identity == identity) {
      ++kinds_[recent.kind].count;
      use = recent.use;
      return recent.kind;
    }
    const std::uint32_t kind = look_up(event, use);
    recent = {identity, kind, use};
    return kind;
  }

  /// Counts two kernel events, of which most are of one kind.
  void count_two(const EventView& first, const EventView& second) {
    EventUse use;
    const std::uint32_t kind = classify(first, use);
    if (first.version == second.version && first.group == second.group &&
        first.type == second.type) {
      ++kinds_[kind].count;
    } else {
      classify(second, use);
    }
  }

  /// Samples of performance counters are one kind of event, whichever counter ran over. This gives
  /// the kind for `source` alone; `kind` itself when there are too many.
  std::uint32_t of_counter(std::uint32_t kind, std::uint16_t source);

  /// Events of TraceLogging share a kind, whatever their names. This gives the kind for `title`
  /// alone; `kind` itself when it has no other name, or when there are too many.
  std::uint32_t of_title(std::uint32_t kind, std::string_view title);

  /// The trace names a counter, before its samples or after them.
  void name_counter(std::uint16_t source, std::string name);

  [[nodiscard]] EventKind& at(std::uint32_t kind) { return kinds_[kind]; }
  [[nodiscard]] std::size_t size() const { return kinds_.size(); }

  /// Event counts by kind: "Group/type/vN", "guid/idN/opN/vN" or "guid/opN/vN".
  [[nodiscard]] std::map<std::string, std::uint64_t> counts() const;

 private:
  std::uint32_t look_up(const EventView& event, EventUse& use);
  std::uint32_t add(const EventView& event, std::uint64_t hash);

  std::vector<EventKind> kinds_;
  core::IndexTable table_;
  std::map<std::uint16_t, std::uint32_t> kind_of_source_;
  std::map<std::uint16_t, std::string> counter_names_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> kind_of_title_;
  std::size_t name_bytes_ = 0;
  // Kinds of kernel events that came lately: nearly all events are of a few of them.
  struct Recent {
    std::uint32_t identity = ~std::uint32_t{0};
    std::uint32_t kind = kUnknownKind;
    EventUse use;
  };
  std::array<Recent, 64> recent_{};
  std::uint32_t last_ = kUnknownKind;
};

/// The name of a kind in the event table: "PerfInfo/SampledProfile", "guid/idN", "guid/opN",
/// "PerfInfo/PMCSample/NAME" (without a name: "PerfInfo/PMCSample/source N"); its title, if it has
/// one.
std::string name_of(const EventKind& kind, std::uint32_t number);

}  // namespace stackpack::etl
