#include "capture/value_kinds.h"

#include <algorithm>
#include <array>

namespace stackpack::capture {

namespace {

using Field = ValueKindField;

constexpr Field kGcStart[] = {{"gc"}, {"generation"}, {"reason"}, {"type"}, {"runtime"}};
constexpr Field kGcEnd[] = {{"gc"}, {"generation"}, {"runtime"}};
constexpr Field kSuspendStart[] = {{"reason"}, {"gc"}, {"runtime"}};
constexpr Field kRuntimeOnly[] = {{"runtime"}};
constexpr Field kGcHeap[] = {{"gen0", ValueType::kBytes},
                             {"gen1", ValueType::kBytes},
                             {"gen2", ValueType::kBytes},
                             {"large", ValueType::kBytes},
                             {"pinned", ValueType::kBytes},
                             {"promoted", ValueType::kBytes},
                             {"pinned_objects"},
                             {"handles"}};
constexpr Field kAllocation[] = {{"bytes", ValueType::kBytes},
                                 {"heap"},
                                 {"type", ValueType::kText},
                                 {"object", ValueType::kBytes}};
constexpr Field kException[] = {{"type", ValueType::kText},
                                {"message", ValueType::kText},
                                {"hresult", ValueType::kAddress},
                                {"flags"}};
constexpr Field kContention[] = {{"duration", ValueType::kNanoseconds}, {"flags"}};
constexpr Field kAdjustment[] = {{"throughput", ValueType::kReal}, {"threads"}, {"reason"}};
constexpr Field kThreads[] = {{"operation"}, {"threads"}, {"retired"}};
constexpr Field kJit[] = {{"duration", ValueType::kNanoseconds},
                          {"code", ValueType::kBytes},
                          {"il", ValueType::kBytes},
                          {"tier"},
                          {"method", ValueType::kText}};
constexpr Field kDiskIo[] = {{"operation"},
                             {"bytes", ValueType::kBytes},
                             {"latency", ValueType::kNanoseconds},
                             {"offset", ValueType::kAddress},
                             {"disk"},
                             {"file", ValueType::kText}};
constexpr Field kFileIo[] = {{"operation"},
                             {"bytes", ValueType::kBytes},
                             {"latency", ValueType::kNanoseconds},
                             {"offset", ValueType::kAddress},
                             {"status", ValueType::kAddress},
                             {"file", ValueType::kText}};
constexpr Field kHardFault[] = {{"bytes", ValueType::kBytes},
                                {"latency", ValueType::kNanoseconds},
                                {"offset", ValueType::kAddress},
                                {"address", ValueType::kAddress},
                                {"file", ValueType::kText}};
constexpr Field kVirtualMemory[] = {{"operation"},
                                    {"bytes", ValueType::kBytes},
                                    {"address", ValueType::kAddress},
                                    {"flags", ValueType::kAddress}};
constexpr Field kNetwork[] = {{"operation"},
                              {"protocol"},
                              {"bytes", ValueType::kBytes},
                              {"destination_port"},
                              {"source_port"}};
constexpr Field kHeap[] = {{"operation"},
                           {"bytes", ValueType::kBytes},
                           {"address", ValueType::kAddress},
                           {"heap", ValueType::kAddress},
                           {"before", ValueType::kAddress}};
constexpr Field kImage[] = {{"operation"},
                            {"bytes", ValueType::kBytes},
                            {"address", ValueType::kAddress},
                            {"file", ValueType::kText}};

constexpr Field kContentionStart[] = {
    {"lock", ValueType::kAddress}, {"object", ValueType::kAddress}, {"owner"}, {"flags"}};
constexpr Field kWaitStart[] = {{"source"}, {"object", ValueType::kAddress}};
constexpr Field kExceptionCatch[] = {{"method", ValueType::kText}};

constexpr ValueKindRow kKinds[] = {
    {"gc_start", kGcStart},
    {"gc_end", kGcEnd},
    {"suspend_start", kSuspendStart},
    {"suspend_end", kRuntimeOnly},
    {"restart_start", kRuntimeOnly},
    {"restart_end", kRuntimeOnly},
    {"gc_heap", kGcHeap},
    {"allocation", kAllocation},
    {"exception", kException},
    {"contention", kContention},
    {"thread_pool_adjustment", kAdjustment},
    {"thread_pool_threads", kThreads},
    {"jit", kJit},
    {"disk_io", kDiskIo},
    {"file_io", kFileIo},
    {"hard_fault", kHardFault},
    {"virtual_memory", kVirtualMemory},
    {"network", kNetwork},
    {"heap", kHeap},
    {"image", kImage},
    {"contention_start", kContentionStart},
    {"wait_start", kWaitStart},
    {"wait_end", kRuntimeOnly},
    {"exception_catch", kExceptionCatch},
};

constexpr std::string_view kRuntimeProvider = "Microsoft-Windows-DotNETRuntime/";

// Events of the runtime, without the provider.
constexpr std::string_view kRuntimeEvents[] = {
    "GC/Start",
    "GC/Stop",
    "GC/SuspendEEStart",
    "GC/SuspendEEStop",
    "GC/RestartEEStart",
    "GC/RestartEEStop",
    "GC/HeapStats",
    "GC/AllocationTick",
    "AllocationSampling",
    "Exception/Start",
    "Contention/Stop",
    "ThreadPoolWorkerThreadAdjustment/Adjustment",
    "ThreadPoolWorkerThread/Start",
    "ThreadPoolWorkerThread/Stop",
    "ThreadPoolWorkerThread/Wait",
    "Method/JittingStarted",
    "Contention/Start",
    "WaitHandleWait/Start",
    "WaitHandleWait/Stop",
    "ExceptionCatch/Start",
};

static_assert(std::size(kRuntimeEvents) == kFirstKernelEvent);

// What becomes of each.
constexpr ValueKind kRuntimeKinds[] = {
    ValueKind::kGcStart,
    ValueKind::kGcEnd,
    ValueKind::kSuspendStart,
    ValueKind::kSuspendEnd,
    ValueKind::kRestartStart,
    ValueKind::kRestartEnd,
    ValueKind::kGcHeap,
    ValueKind::kAllocation,
    ValueKind::kAllocation,
    ValueKind::kException,
    ValueKind::kContention,
    ValueKind::kThreadPoolAdjustment,
    ValueKind::kThreadPoolThreads,
    ValueKind::kThreadPoolThreads,
    ValueKind::kThreadPoolThreads,
    ValueKind::kJit,
    ValueKind::kContentionStart,
    ValueKind::kWaitStart,
    ValueKind::kWaitEnd,
    ValueKind::kExceptionCatch,
};

static_assert(std::size(kRuntimeKinds) == std::size(kRuntimeEvents));
static_assert(std::size(kKinds) == static_cast<std::size_t>(ValueKind::kExceptionCatch) + 1);

constexpr std::string_view kKernelEvents[] = {
    "DiskIo/Read",
    "DiskIo/Write",
    "DiskIo/FlushBuffers",
    "DiskIo/ReadInit",
    "DiskIo/WriteInit",
    "DiskIo/FlushInit",
    "PageFault/HardFault",
    "PageFault/VirtualAlloc",
    "PageFault/VirtualFree",
    "FileIo/Create",
    "FileIo/Cleanup",
    "FileIo/Close",
    "FileIo/Read",
    "FileIo/Write",
    "FileIo/SetInfo",
    "FileIo/Delete",
    "FileIo/Rename",
    "FileIo/DirEnum",
    "FileIo/Flush",
    "FileIo/QueryInfo",
    "FileIo/FSControl",
    "TcpIp/Send",
    "TcpIp/Recv",
    "TcpIp/SendIPV6",
    "TcpIp/RecvIPV6",
    "UdpIp/Send",
    "UdpIp/Recv",
    "UdpIp/SendIPV6",
    "UdpIp/RecvIPV6",
    "Heap/Alloc",
    "Heap/ReAlloc",
    "Heap/Free",
    "Image/Load",
    "Image/Unload",
};

ValueKind kind_of_kernel(std::string_view event) {
  return event.starts_with("DiskIo/")          ? ValueKind::kDiskIo
         : event.starts_with("FileIo/")        ? ValueKind::kFileIo
         : event == "PageFault/HardFault"      ? ValueKind::kHardFault
         : event.starts_with("PageFault/Virt") ? ValueKind::kVirtualMemory
         : event.starts_with("Heap/")          ? ValueKind::kHeap
         : event.starts_with("Image/")         ? ValueKind::kImage
                                               : ValueKind::kNetwork;
}

template <std::size_t kCount>
std::optional<std::uint8_t> position(const std::string_view (&names)[kCount], std::string_view name,
                                     std::size_t first) {
  const auto* const found = std::find(std::begin(names), std::end(names), name);
  return found == std::end(names)
             ? std::nullopt
             : std::optional(static_cast<std::uint8_t>(
                   first + static_cast<std::size_t>(found - std::begin(names))));
}

}  // namespace

std::span<const ValueKindRow> value_kinds() {
  return kKinds;
}

std::optional<ValueKind> value_kind_named(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kKinds), std::end(kKinds),
                   [name](const ValueKindRow& row) { return row.name == name; });
  return found == std::end(kKinds) ? std::nullopt
                                   : std::optional(static_cast<ValueKind>(found - kKinds));
}

std::optional<std::uint8_t> valued_event(std::string_view event_name) {
  if (event_name.starts_with(kRuntimeProvider)) {
    return position(kRuntimeEvents, event_name.substr(kRuntimeProvider.size()), 0);
  }
  return position(kKernelEvents, event_name, kFirstKernelEvent);
}

std::vector<std::string> events_of_kind(ValueKind kind) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::size(kRuntimeEvents); ++i) {
    if (kRuntimeKinds[i] == kind) {
      names.push_back(std::string(kRuntimeProvider).append(kRuntimeEvents[i]));
    }
  }
  for (const std::string_view name : kKernelEvents) {
    if (kind_of_kernel(name) == kind) {
      names.emplace_back(name);
    }
  }
  return names;
}

TypedEvent typed_event(std::string_view event_name) {
  if (!event_name.starts_with(kRuntimeProvider)) {
    return TypedEvent::kNone;
  }
  const std::string_view event = event_name.substr(kRuntimeProvider.size());
  return event == "GC/AllocationTick" || event == "AllocationSampling" ? TypedEvent::kAllocation
         : event == "Exception/Start"                                  ? TypedEvent::kException
                                                                       : TypedEvent::kNone;
}

}  // namespace stackpack::capture
