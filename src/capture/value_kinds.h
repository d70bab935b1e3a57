// The kinds of events whose payloads are kept, whatever the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/event_values.h"

namespace stackpack::capture {

/// Rows of value_kinds(). Fields are in the order of its table.
enum class ValueKind : std::uint8_t {
  kGcStart,
  kGcEnd,
  kSuspendStart,
  kSuspendEnd,
  kRestartStart,
  kRestartEnd,
  kGcHeap,
  kAllocation,
  kException,
  kContention,
  kThreadPoolAdjustment,
  kThreadPoolThreads,
  kJit,
  kDiskIo,
  kFileIo,
  kHardFault,
  kVirtualMemory,
  kNetwork,
  kHeap,
  kImage,
  // Files have those from here on only where they have values of them.
  kContentionStart,
  kWaitStart,
  kWaitEnd,
  kExceptionCatch,
};

struct ValueKindField {
  std::string_view name;
  ValueType type = ValueType::kNumber;
};

struct ValueKindRow {
  std::string_view name;
  std::span<const ValueKindField> fields;
};

/// How many of them every file with values describes.
inline constexpr std::size_t kLastingKinds = static_cast<std::size_t>(ValueKind::kContentionStart);

/// All kinds, in the order of ValueKind.
std::span<const ValueKindRow> value_kinds();

/// By its name.
std::optional<ValueKind> value_kind_named(std::string_view name);

/// Whether a capture described a kind itself, a tracepoint: its name is SYSTEM:NAME.
inline bool is_own_kind(const ValueSchema& schema) {
  return schema.name.find(':') != std::string::npos;
}

/// Numbers from this one on are of events of a kernel.
inline constexpr std::uint8_t kFirstKernelEvent = 20;

/// Numbers for the names of events that may carry the callstack of a value; nothing for others.
std::optional<std::uint8_t> valued_event(std::string_view event_name);

/// Names of the events that a kind comes from.
std::vector<std::string> events_of_kind(ValueKind kind);

/// What the type is that an event names.
enum class TypedEvent : std::uint8_t {
  kNone,        ///< it names none
  kAllocation,  ///< of an object that was allocated
  kException,   ///< of an exception that was thrown
};

/// By the name of an event.
TypedEvent typed_event(std::string_view event_name);

}  // namespace stackpack::capture
