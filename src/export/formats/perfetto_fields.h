// Field numbers of Perfetto's trace format, package perfetto.protos, of what is written here; they
// are a stable part of it. Source: https://github.com/google/perfetto, protos/perfetto/trace
#pragma once

#include <cstdint>

namespace stackpack::exporting::perfetto {

namespace trace {
inline constexpr std::uint32_t kPacket = 1;
}  // namespace trace

namespace packet {
inline constexpr std::uint32_t kFtraceEvents = 1;
inline constexpr std::uint32_t kClockSnapshot = 6;
inline constexpr std::uint32_t kTimestamp = 8;
inline constexpr std::uint32_t kSequenceId = 10;
inline constexpr std::uint32_t kTrackEvent = 11;
inline constexpr std::uint32_t kInternedData = 12;
inline constexpr std::uint32_t kSequenceFlags = 13;
inline constexpr std::uint32_t kDefaults = 59;
inline constexpr std::uint32_t kTrackDescriptor = 60;
inline constexpr std::uint32_t kPerfSample = 66;

// Of kSequenceFlags.
inline constexpr std::uint32_t kStateCleared = 1;
inline constexpr std::uint32_t kNeedsState = 2;
}  // namespace packet

namespace clock_snapshot {
inline constexpr std::uint32_t kClocks = 1;
inline constexpr std::uint32_t kClockId = 1;    // of a clock
inline constexpr std::uint32_t kTimestamp = 2;  // of a clock
inline constexpr std::uint32_t kRealtime = 1;   // clocks
inline constexpr std::uint32_t kBoottime = 6;
}  // namespace clock_snapshot

namespace defaults {
inline constexpr std::uint32_t kPerfSample = 12;
inline constexpr std::uint32_t kTimebase = 1;  // of kPerfSample
inline constexpr std::uint32_t kPeriod = 1;    // of kTimebase
inline constexpr std::uint32_t kName = 10;     // of kTimebase
}  // namespace defaults

namespace interned {
inline constexpr std::uint32_t kEventNames = 2;
inline constexpr std::uint32_t kFunctionNames = 5;
inline constexpr std::uint32_t kFrames = 6;
inline constexpr std::uint32_t kCallstacks = 7;
inline constexpr std::uint32_t kBuildIds = 16;
inline constexpr std::uint32_t kMappingPaths = 17;
inline constexpr std::uint32_t kSourcePaths = 18;
inline constexpr std::uint32_t kMappings = 19;
}  // namespace interned

namespace text {
inline constexpr std::uint32_t kIid = 1;
inline constexpr std::uint32_t kText = 2;
}  // namespace text

namespace mapping {
inline constexpr std::uint32_t kIid = 1;
inline constexpr std::uint32_t kBuildId = 2;
inline constexpr std::uint32_t kStart = 4;
inline constexpr std::uint32_t kEnd = 5;
inline constexpr std::uint32_t kPathTexts = 7;
inline constexpr std::uint32_t kExactOffset = 8;
}  // namespace mapping

namespace frame {
inline constexpr std::uint32_t kIid = 1;
inline constexpr std::uint32_t kFunctionName = 2;
inline constexpr std::uint32_t kMapping = 3;
inline constexpr std::uint32_t kRelativePc = 4;
inline constexpr std::uint32_t kSourcePath = 5;
inline constexpr std::uint32_t kLine = 6;
}  // namespace frame

namespace callstack {
inline constexpr std::uint32_t kIid = 1;
inline constexpr std::uint32_t kFrames = 2;  // root first
}  // namespace callstack

namespace perf_sample {
inline constexpr std::uint32_t kCpu = 1;
inline constexpr std::uint32_t kPid = 2;
inline constexpr std::uint32_t kTid = 3;
inline constexpr std::uint32_t kCallstack = 4;
inline constexpr std::uint32_t kCpuMode = 5;
inline constexpr std::uint32_t kTimebaseCount = 6;

// Of kCpuMode.
inline constexpr std::uint32_t kModeKernel = 1;
inline constexpr std::uint32_t kModeUser = 2;
inline constexpr std::uint32_t kModeHypervisor = 3;
inline constexpr std::uint32_t kModeGuestKernel = 4;
inline constexpr std::uint32_t kModeGuestUser = 5;
}  // namespace perf_sample

namespace track {
inline constexpr std::uint32_t kUuid = 1;
inline constexpr std::uint32_t kName = 2;
inline constexpr std::uint32_t kProcess = 3;
inline constexpr std::uint32_t kThread = 4;
inline constexpr std::uint32_t kParentUuid = 5;
}  // namespace track

namespace process {
inline constexpr std::uint32_t kPid = 1;
inline constexpr std::uint32_t kName = 6;
}  // namespace process

namespace thread {
inline constexpr std::uint32_t kPid = 1;
inline constexpr std::uint32_t kTid = 2;
inline constexpr std::uint32_t kName = 5;
}  // namespace thread

namespace track_event {
inline constexpr std::uint32_t kAnnotations = 4;
inline constexpr std::uint32_t kType = 9;
inline constexpr std::uint32_t kNameIid = 10;
inline constexpr std::uint32_t kTrackUuid = 11;
inline constexpr std::uint32_t kBegin = 1;  // of kType
inline constexpr std::uint32_t kEnd = 2;
}  // namespace track_event

namespace ftrace_bundle {
inline constexpr std::uint32_t kCpu = 1;
inline constexpr std::uint32_t kEvent = 2;
}  // namespace ftrace_bundle

namespace ftrace_event {
inline constexpr std::uint32_t kTimestamp = 1;
inline constexpr std::uint32_t kPid = 2;  // of the thread on the processor
inline constexpr std::uint32_t kSchedSwitch = 4;
inline constexpr std::uint32_t kSchedWaking = 20;
}  // namespace ftrace_event

namespace sched {
inline constexpr std::uint32_t kPreviousName = 1;
inline constexpr std::uint32_t kPreviousPid = 2;
inline constexpr std::uint32_t kPreviousState = 4;
inline constexpr std::uint32_t kNextName = 5;
inline constexpr std::uint32_t kNextPid = 6;
inline constexpr std::uint32_t kWakingName = 1;
inline constexpr std::uint32_t kWakingPid = 2;
}  // namespace sched

namespace annotation {
inline constexpr std::uint32_t kUint = 3;
inline constexpr std::uint32_t kText = 6;
inline constexpr std::uint32_t kName = 10;
}  // namespace annotation

}  // namespace stackpack::exporting::perfetto
