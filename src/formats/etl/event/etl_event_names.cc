#include "formats/etl/event/etl_event_names.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace stackpack::etl {

namespace {

// The words by which event counts name the groups, in the order of their numbers.
constexpr std::array<std::string_view, 31> kGroups = {
    "EventTrace", "Io",         "Memory",     "Process",   "File",   "Thread",   "TcpIp",
    "Job",        "UdpIp",      "Registry",   "DbgPrint",  "Config", "Spare1",   "Wnf",
    "Pool",       "PerfInfo",   "Heap",       "Object",    "Power",  "ModBound", "Image",
    "Dpc",        "CcOrGdi",    "CritSec",    "StackWalk", "Ums",    "Alpc",     "SplitIo",
    "ThreadPool", "Hypervisor", "HypervisorX"};

struct NamedEvent {
  std::uint8_t group;
  std::uint8_t type;
  std::string_view name;
};

// Sorted by group and type.
constexpr NamedEvent kEvents[] = {
    {0, 0, "EventTrace/Header"},
    {0, 5, "EventTrace/Extension"},
    {0, 8, "EventTrace/RundownComplete"},
    {0, 32, "EventTrace/EndExtension"},
    {0, 80, "EventTrace/PartitionInfo"},
    {1, 10, "DiskIo/Read"},
    {1, 11, "DiskIo/Write"},
    {1, 12, "DiskIo/ReadInit"},
    {1, 13, "DiskIo/WriteInit"},
    {1, 14, "DiskIo/FlushBuffers"},
    {1, 15, "DiskIo/FlushInit"},
    {2, 10, "PageFault/TransitionFault"},
    {2, 11, "PageFault/DemandZeroFault"},
    {2, 12, "PageFault/CopyOnWrite"},
    {2, 13, "PageFault/GuardPageFault"},
    {2, 14, "PageFault/HardPageFault"},
    {2, 15, "PageFault/AccessViolation"},
    {2, 32, "PageFault/HardFault"},
    {2, 98, "PageFault/VirtualAlloc"},
    {2, 99, "PageFault/VirtualFree"},
    {2, 105, "PageFault/ImageLoadBacked"},
    {3, 1, "Process/Start"},
    {3, 2, "Process/End"},
    {3, 3, "Process/DCStart"},
    {3, 4, "Process/DCEnd"},
    {3, 10, "Image/Load"},
    {3, 11, "Process/Terminate"},
    {3, 32, "Process/PerfCtr"},
    {3, 33, "Process/PerfCtrRundown"},
    {3, 39, "Process/Defunct"},
    {4, 0, "FileIo/Name"},
    {4, 32, "FileIo/FileCreate"},
    {4, 35, "FileIo/FileDelete"},
    {4, 36, "FileIo/FileRundown"},
    {4, 64, "FileIo/Create"},
    {4, 65, "FileIo/Cleanup"},
    {4, 66, "FileIo/Close"},
    {4, 67, "FileIo/Read"},
    {4, 68, "FileIo/Write"},
    {4, 69, "FileIo/SetInfo"},
    {4, 70, "FileIo/Delete"},
    {4, 71, "FileIo/Rename"},
    {4, 72, "FileIo/DirEnum"},
    {4, 73, "FileIo/Flush"},
    {4, 74, "FileIo/QueryInfo"},
    {4, 75, "FileIo/FSControl"},
    {4, 76, "FileIo/OperationEnd"},
    {4, 77, "FileIo/DirNotify"},
    {5, 1, "Thread/Start"},
    {5, 2, "Thread/End"},
    {5, 3, "Thread/DCStart"},
    {5, 4, "Thread/DCEnd"},
    {5, 36, "Thread/CSwitch"},
    {5, 48, "Thread/SetPriority"},
    {5, 49, "Thread/SetBasePriority"},
    {5, 50, "Thread/ReadyThread"},
    {5, 51, "Thread/SetPagePriority"},
    {5, 52, "Thread/SetIoPriority"},
    {5, 53, "Thread/SetAffinity"},
    {5, 62, "Thread/AutoBoostSetFloor"},
    {5, 63, "Thread/AutoBoostClearFloor"},
    {5, 72, "Thread/SetName"},
    {6, 10, "TcpIp/Send"},
    {6, 11, "TcpIp/Recv"},
    {6, 12, "TcpIp/Connect"},
    {6, 13, "TcpIp/Disconnect"},
    {6, 14, "TcpIp/Retransmit"},
    {6, 15, "TcpIp/Accept"},
    {6, 16, "TcpIp/Reconnect"},
    {6, 17, "TcpIp/Fail"},
    {6, 18, "TcpIp/TCPCopy"},
    {6, 26, "TcpIp/SendIPV6"},
    {6, 27, "TcpIp/RecvIPV6"},
    {6, 28, "TcpIp/ConnectIPV6"},
    {6, 29, "TcpIp/DisconnectIPV6"},
    {6, 30, "TcpIp/RetransmitIPV6"},
    {6, 31, "TcpIp/AcceptIPV6"},
    {6, 32, "TcpIp/ReconnectIPV6"},
    {6, 34, "TcpIp/TCPCopyIPV6"},
    {8, 10, "UdpIp/Send"},
    {8, 11, "UdpIp/Recv"},
    {8, 17, "UdpIp/Fail"},
    {8, 26, "UdpIp/SendIPV6"},
    {8, 27, "UdpIp/RecvIPV6"},
    {9, 10, "Registry/Create"},
    {9, 11, "Registry/Open"},
    {9, 12, "Registry/Delete"},
    {9, 13, "Registry/Query"},
    {9, 14, "Registry/SetValue"},
    {9, 15, "Registry/DeleteValue"},
    {9, 16, "Registry/QueryValue"},
    {9, 17, "Registry/EnumerateKey"},
    {9, 18, "Registry/EnumerateValueKey"},
    {9, 19, "Registry/QueryMultipleValue"},
    {9, 20, "Registry/SetInformation"},
    {9, 21, "Registry/Flush"},
    {9, 22, "Registry/KCBCreate"},
    {9, 23, "Registry/KCBDelete"},
    {9, 24, "Registry/KCBRundownBegin"},
    {9, 25, "Registry/KCBRundownEnd"},
    {9, 26, "Registry/Virtualize"},
    {9, 27, "Registry/Close"},
    {14, 32, "Pool/Alloc"},
    {14, 33, "Pool/AllocSession"},
    {14, 34, "Pool/Free"},
    {14, 35, "Pool/FreeSession"},
    {14, 36, "Pool/AddPage"},
    {15, 46, "PerfInfo/SampledProfile"},
    {15, 47, "PerfInfo/PMCSample"},
    {15, 48, "PerfInfo/PMCCounterConfig"},
    {15, 50, "PerfInfo/ISR-MSI"},
    {15, 51, "PerfInfo/SysClEnter"},
    {15, 52, "PerfInfo/SysClExit"},
    {15, 66, "PerfInfo/ThreadedDPC"},
    {15, 67, "PerfInfo/ISR"},
    {15, 68, "PerfInfo/DPC"},
    {15, 69, "PerfInfo/TimerDPC"},
    {15, 72, "PerfInfo/SetInterval"},
    {15, 73, "PerfInfo/CollectionStart"},
    {15, 74, "PerfInfo/CollectionEnd"},
    {16, 32, "Heap/Create"},
    {16, 33, "Heap/Alloc"},
    {16, 34, "Heap/ReAlloc"},
    {16, 35, "Heap/Destroy"},
    {16, 36, "Heap/Free"},
    {17, 48, "Object/CreateHandle"},
    {17, 49, "Object/CloseHandle"},
    {17, 50, "Object/DuplicateHandle"},
    {20, 2, "Image/Unload"},
    {20, 3, "Image/DCStart"},
    {20, 4, "Image/DCEnd"},
    {20, 10, "Image/Load"},
    {20, 33, "Image/KernelBase"},
    {20, 34, "Image/HypercallPage"},
    {23, 34, "CritSec/Collision"},
    {23, 35, "CritSec/Initialize"},
    {24, 32, "StackWalk/Stack"},
    {24, 34, "StackWalk/KeyCreate"},
    {24, 35, "StackWalk/KeyDelete"},
    {24, 36, "StackWalk/KeyRundown"},
    {24, 37, "StackWalk/StackKeyKernel"},
    {24, 38, "StackWalk/StackKeyUser"},
    {26, 33, "ALPC/SendMessage"},
    {26, 34, "ALPC/ReceiveMessage"},
    {26, 35, "ALPC/WaitForReply"},
    {26, 36, "ALPC/WaitForNewMessage"},
    {26, 37, "ALPC/Unwait"},
};

constexpr unsigned key_of(const NamedEvent& event) {
  return (unsigned{event.group} << 8) | event.type;
}

static_assert(std::is_sorted(std::begin(kEvents), std::end(kEvents),
                             [](const NamedEvent& a, const NamedEvent& b) {
                               return key_of(a) < key_of(b);
                             }));

const NamedEvent* find_event(std::uint8_t group, std::uint8_t type) {
  const unsigned key = (unsigned{group} << 8) | type;
  const auto* const found = std::lower_bound(
      std::begin(kEvents), std::end(kEvents), key,
      [](const NamedEvent& event, unsigned wanted) { return key_of(event) < wanted; });
  return found != std::end(kEvents) && key_of(*found) == key ? found : nullptr;
}

}  // namespace

std::string group_name(std::uint8_t group) {
  return group < kGroups.size() ? std::string(kGroups[group]) : std::to_string(group);
}

bool is_known_kernel_event(std::uint8_t group, std::uint8_t type) {
  return find_event(group, type) != nullptr;
}

std::string kernel_event_name(std::uint8_t group, std::uint8_t type) {
  const NamedEvent* const found = find_event(group, type);
  return found != nullptr ? std::string(found->name)
                          : group_name(group) + "/" + std::to_string(type);
}

}  // namespace stackpack::etl
