// Frames as TraceEvent writes them, for dotnet-trace and PerfView: which are code, and what the
// others say.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "stackpack/model.h"

namespace stackpack::speedscope {

enum class FrameRole : std::uint8_t {
  kCode,
  kProcess,  ///< `Process64 NAME (PID) Args: ...`
  kThread,   ///< `Thread (TID) NAME`
  kGroup,    ///< `Threads`, `(Activities)`, `(Non-Activities)`
  kState,    ///< `CPU_TIME`, below which there is nothing
};

/// One frame, taken apart. The texts are parts of its name.
struct TraceEventFrame {
  FrameRole role = FrameRole::kCode;
  std::string_view name;          ///< of the function, process or thread
  std::string_view image;         ///< of code: `Module!Function` has one
  std::string_view command_line;  ///< of a process; may be empty
  std::string_view event;         ///< of a state: what its samples are; empty: as others
  std::uint32_t id = kUnknownId;  ///< of a process or thread
};

/// Whether what wrote a file is TraceEvent, by the `exporter` that it names.
bool is_trace_event(std::string_view exporter);

TraceEventFrame trace_event_frame(std::string_view text);

/// The same of a state alone, which others write as well; nothing: the frame is none.
std::optional<TraceEventFrame> state_frame(std::string_view text);

}  // namespace stackpack::speedscope
