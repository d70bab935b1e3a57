// What events of the kernel say: reads and writes of disks and files, hard faults, memory that was
// allocated, images that were loaded, and bytes sent and received.
//
// Layouts (P: a pointer of the payload's size, S: UTF-16 up to its NUL; later versions append):
//   DiskIo 10 Read, 11 Write  u32 disk, u32 flags, u32 bytes, u32 0, u64 offset, P file, P request,
//                             u64 response time in ticks of the processor's clock, version 3: u32
//                             thread
//   DiskIo 12, 13, 15 Init    P request, version 3: u32 thread
//   DiskIo 14 FlushBuffers    u32 disk, u32 flags, u64 response time, P request, version 3: u32
//   FileIo 0, 32, 35, 36 names  P file, S path
//   FileIo 64 Create          P request, [version 2: P thread,] P object, [3: u32 thread,] u32
//                             options, u32 attributes, u32 sharing, S path
//   FileIo 67 Read, 68 Write  u64 offset, P request, [2: P thread,] P object, P file, [3: u32
//                             thread,] u32 bytes, u32 flags
//   FileIo 65, 66, 73 Cleanup, Close, Flush  P request, [2: P thread,] P object, P file, [3: u32
//                             thread]
//   FileIo 76 OperationEnd    P request, P more, u32 status
//   PageFault 32 HardFault    u64 clock at the begin, u64 offset, P address, P file, u32 thread,
//                             u32 bytes
//   PageFault 98, 99 VirtualAlloc, VirtualFree  P address, P bytes, u32 process, u32 flags
//   TcpIp, UdpIp 10, 11, 26, 27  u32 process, u32 bytes, two addresses of 4 or 16 bytes, two ports
//   Heap 33 Alloc             P heap, P bytes, P address, u32 source
//   Heap 34 ReAlloc           P heap, P address, P address before, P bytes, P bytes before, u32
//   source Heap 36 Free              P heap, P address, u32 source Image 2 Unload, 10 Load   P
//   base, P bytes, u32 process, u32 checksum, u32 time, u32 signature, P
//                             default base, four u32, S path
// Source: Microsoft Learn, the classes DiskIo, FileIo, Image_V2, PageFault_V2, TcpIp and UdpIp, and
// the structures ETW_HEAP_EVENT_ALLOC, _REALLOC and _FREE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "bytes/byte_cursor.h"
#include "capture/loss_counters.h"
#include "capture/value_recorder.h"
#include "formats/etl/event/etl_clock.h"
#include "formats/etl/event/event_header.h"
#include "formats/etl/event/events_not_kept.h"

namespace stackpack::etl {

/// Operations of the field of that name. Of file I/O it is the type of the event.
enum ValueOperations : std::uint64_t {
  kOperationRead = 0,
  kOperationWrite = 1,
  kOperationFlush = 2,
};

/// Operations of the heap of a process.
enum HeapOperations : std::uint64_t { kHeapAllocates = 0, kHeapFrees = 1, kHeapMoves = 2 };

/// Reads such payloads. One that is too short is counted, and says nothing.
///
/// Memory: kMostRequests requests that have begun and not ended.
class KernelValues {
 public:
  static constexpr std::size_t kMostRequests = std::size_t{1} << 16;

  /// `recorder` may be null: nothing is kept then. `frequency`: of the processor's clock.
  /// References must outlive this.
  KernelValues(capture::ValueRecorder* recorder, capture::LossCounters& losses,
               const EtlClock& clock, std::uint64_t frequency)
      : recorder_(recorder), losses_(losses), clock_(clock), frequency_(frequency) {}

  /// Whether the payloads of such events of the kernel are read.
  static bool wants(std::uint8_t group, std::uint8_t type);

  /// `thread`: pid and tid of the event, as far as they are known.
  struct Thread {
    std::uint32_t pid = kUnknownId;
    std::uint32_t tid = kUnknownId;
  };
  void event(const EventView& event, const EventPlace& place, const Thread& thread);

  /// Requests whose end did not come have no latency.
  void finish();

 private:
  struct DiskRequest {
    std::uint64_t clock = 0;
    std::uint32_t tid = kUnknownId;
    std::uint8_t type = 0;
  };
  struct FileRequest {
    capture::RecordedValue value;
    std::uint64_t clock = 0;
  };

  bool disk(const EventView& event, bytes::ByteCursor& in, capture::RecordedValue& value);
  void disk_begins(const EventView& event, bytes::ByteCursor& in, std::uint32_t tid);
  void file_named(const EventView& event, bytes::ByteCursor& in);
  void file_begins(const EventView& event, bytes::ByteCursor& in, capture::RecordedValue& value);
  void file_ends(const EventView& event, bytes::ByteCursor& in);
  bool fault(const EventView& event, bytes::ByteCursor& in, capture::RecordedValue& value);
  static bool memory(const EventView& event, bytes::ByteCursor& in, capture::RecordedValue& value);
  static bool heap(const EventView& event, bytes::ByteCursor& in, capture::RecordedValue& value);
  bool image(const EventView& event, bytes::ByteCursor& in, capture::RecordedValue& value);
  static bool network(const EventView& event, bytes::ByteCursor& in, capture::RecordedValue& value);
  [[nodiscard]] std::uint64_t ns_between(std::uint64_t from, std::uint64_t to) const;

  capture::ValueRecorder* recorder_;
  capture::LossCounters& losses_;
  const EtlClock& clock_;
  std::uint64_t frequency_;
  std::unordered_map<std::uint64_t, DiskRequest> disk_requests_;
  std::unordered_map<std::uint64_t, FileRequest> file_requests_;
};

}  // namespace stackpack::etl
