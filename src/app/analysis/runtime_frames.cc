#include "app/analysis/runtime_frames.h"

#include <algorithm>
#include <span>

namespace stackpack::app {

namespace {

// Names begin so. Source: dotnet/runtime, and callstacks of the versions that are named.
constexpr std::string_view kDispatch[] = {
    "System.Runtime.EH.",                                            // .NET 9 and later
    "S_P_CoreLib_System_Runtime_EH__",                               // the same, native AOT
    "System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw",  // all: thrown once more
    "System.Runtime.ExceptionServices.InternalCalls.",               // .NET 9 and later
    "IL_Throw",                                                      // .NET Framework to .NET 8
    "IL_Rethrow",
    "JIT_Throw",
    "JIT_Rethrow",
    "DispatchManagedException",  // .NET 8 and later
    "DispatchRethrownManagedException",
    "DispatchExSecondPass",
    "RaiseTheException",  // and ...InternalOnly, ...InternalOnlyHelper
    "RealCOMPlusThrow",
    "COMPlusThrow",
    "RhThrowEx",  // native AOT
    "RhThrowHwEx",
    "RhRethrow",
    "RhpThrowEx",
    "RhpThrowHwEx",
    "RhpRethrow",
    "ETW::ExceptionLog::",  // where the event is written; Windows
    "ExceptionTracker::",
    "ProcessCLRException",
    "EEToProfilerExceptionInterfaceWrapper::",
    "RaiseException",
    "RtlRaiseException",
    "RtlDispatchException",
    "RtlpExecuteHandlerForException",
    "KiUserExceptionDispatch",
    "KiDispatchException",
    "EtwEventWrite",
    "EtwpEventWrite",
    "NtTraceEvent",
    "ZwTraceEvent",
};

constexpr std::string_view kWaiting[] = {
    "System.Threading.",  // .NET, all: monitors, locks, handles, tasks
    "Interop+",           // .NET, all: calls of the system
    "Interop.",
    "JIT_Mon",  // .NET Framework to .NET 9
    "JITutil_Mon",
    "AwareLock::",
    "ETW::ContentionLog::",  // where the event is written; Windows
    "EtwEventWrite",
    "EtwpEventWrite",
    "NtTraceEvent",
    "ZwTraceEvent",
};

}  // namespace

bool is_runtime_frame(RuntimeFrames kind, std::string_view name) {
  const std::span<const std::string_view> names =
      kind == RuntimeFrames::kDispatch  ? std::span<const std::string_view>(kDispatch)
      : kind == RuntimeFrames::kWaiting ? std::span<const std::string_view>(kWaiting)
                                        : std::span<const std::string_view>();
  return std::any_of(names.begin(), names.end(),
                     [name](std::string_view begin) { return name.starts_with(begin); });
}

}  // namespace stackpack::app
