// Events in which runtimes name the code they made: the methods of .NET, the functions of JScript
// and V8.
//
// .NET, providers e13c0d23 (143 load, 144 unload, 139 and 140 rundown) and a669021c (143 and 144
// rundown): formats/dotnet/method_payload.h. The version is that of the event: the runtime writes
// version 1 for code that has no version.
// JScript and V8, provider 57277741 (9 load, 10 unload, 5 and 6 rundown), P being a pointer:
//
//   P context, P start, u64 size, u32 method, u16 flags, u16 range, u64 source, u32 line,
//   u32 column, UTF-16 name
//
// Source: the manifests of the providers, as Microsoft's documentation of the CLR's method events
// and the public readers of both have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "capture/function_recorder.h"
#include "formats/etl/event/event_header.h"

namespace stackpack::etl {

/// What an event says of a method, if anything.
enum class MethodRole : std::uint8_t {
  kNone,
  kLoad,
  kUnload,
  kRundownStart,  ///< the method was there when the trace began
  kRundownEnd,    ///< it is there when the trace ends
  kModule,        ///< which file the module of methods is
  kScriptLoad,    ///< the same of JScript and V8
  kScriptUnload,
  kScriptRundownStart,
  kScriptRundownEnd,
};

/// The role of events of a kind; they have the same one in all versions.
MethodRole method_role(const EventView& event);

/// Reads the payloads of such events. Keeps its memory between events.
class MethodReader {
 public:
  /// The event as a fact, all but its time. Its texts are valid until the next call.
  /// False: the payload is too short, or a text in it has no end.
  bool read(const EventView& event, MethodRole role, capture::FunctionFact& fact);

  /// The same without the name, which dotnet::read_method_name() finds in the payload later. False:
  /// the payload is not one of those that can be read so, and may be good nevertheless.
  static bool read_all_but_name(const EventView& event, MethodRole role,
                                capture::FunctionFact& fact);

 private:
  bool read_runtime(const EventView& event, capture::FunctionFact& fact);
  bool read_script(const EventView& event, capture::FunctionFact& fact);

  std::string name_;
};

}  // namespace stackpack::etl
