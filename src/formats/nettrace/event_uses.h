// What is made of the events of a kind.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "capture/function_fact.h"
#include "capture/payload_schema.h"
#include "formats/dotnet/runtime_values.h"
#include "formats/nettrace/metadata.h"

namespace stackpack::nettrace {

enum class EventRole : std::uint8_t {
  kOther,             ///< its callstack
  kThreadSample,      ///< a sample of the runtime's own profiler
  kAllocationTick,    ///< weight: bytes
  kAllocationSample,  ///< weight: bytes
  kContentionStop,    ///< weight: nanoseconds
  kUniversalSample,   ///< a sample or switch of a recorder of native code
  kUniversalSystem,   ///< UniversalSystem
  kMethod,            ///< dotnet::read_method()
  kModule,            ///< dotnet::MethodModules
  kProcessInfo,       ///< the command line
};

/// A kind of events and what is known of it.
struct EventUse {
  static constexpr std::uint32_t kNoRow = ~std::uint32_t{0};

  EventMetadata metadata;
  EventRole role = EventRole::kOther;
  bool valued = false;  ///< dotnet::RuntimeValues
  dotnet::HandleWait handle_wait = dotnet::HandleWait::kNone;
  bool bookkeeping = false;  ///< its callstacks say nothing about the program
  capture::FunctionNews news = capture::FunctionNews::kExists;  ///< kMethod
  bool wanted = false;            ///< by the sink's capture::PayloadSink
  capture::PayloadSchema schema;  ///< then
  /// Rows of the sink's event table, when there are any: those of thread samples by their type.
  std::uint32_t rows[4] = {kNoRow, kNoRow, kNoRow, kNoRow};
};

EventUse use_of(EventMetadata metadata);

/// Types of thread samples.
enum ThreadSampleTypes : std::uint32_t {
  kSampleError = 0,
  kSampleExternal = 1,  ///< the thread was in native code, or waited
  kSampleManaged = 2,
  kSampleOfUnknownType = 3,
};

/// The name in the event table; `type` of a thread sample.
std::string event_title(const EventUse& use, std::uint32_t type);

/// Whether a thread leaves its processor, for as long as the weight says.
bool is_switch(const EventUse& use);

/// Whether samples have weights.
bool has_weight(const EventUse& use);

/// The weight in a payload of such an event; nothing when the payload is too short.
std::optional<std::uint64_t> weight_in(const EventUse& use, std::span<const std::byte> payload,
                                       unsigned pointer_size);

}  // namespace stackpack::nettrace
