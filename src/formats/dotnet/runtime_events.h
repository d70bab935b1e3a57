// What the events of the .NET runtime are called and what they are for; the same in every format
// that carries them. The runtime leaves the names of its own events out of what it writes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "capture/function_fact.h"

namespace stackpack::dotnet {

/// Who writes an event.
enum class Provider : std::uint8_t {
  kOther,
  kRuntime,  ///< Microsoft-Windows-DotNETRuntime
  kRundown,  ///< Microsoft-Windows-DotNETRuntimeRundown
  kPrivate,  ///< Microsoft-Windows-DotNETRuntimePrivate
  kTasks,    ///< System.Threading.Tasks.TplEventSource
};

Provider provider_named(std::string_view name);

/// "GC/AllocationTick": task and opcode of an event, of any version; empty when it has no name
/// here.
std::string_view event_name(Provider provider, std::uint32_t id);

/// Whether an event says what code there is. Runtimes give some of these a callstack, which tells
/// nothing about the program.
bool is_bookkeeping(Provider provider, std::uint32_t id);

/// Whether an event says which file a module is of.
bool is_module_event(Provider provider, std::uint32_t id);

/// What an event says of the method that its payload describes (method_payload.h); nothing when it
/// is none of those.
std::optional<capture::FunctionNews> method_news(Provider provider, std::uint32_t id);

}  // namespace stackpack::dotnet
