// What events of the .NET runtime say: collections, allocations, exceptions, locks, the thread pool
// and the compiler. Payloads are the same in every format that carries them.
//
// Layouts (P: a pointer of the process, S: UTF-16 up to its NUL; later versions append):
//   1 GC/Start          u32 number, u32 generation, u32 reason, u32 type, u16 runtime
//                       (version 0: u32 number, u32 reason)
//   2 GC/Stop           u32 number, u32 generation, u16 runtime (version 0: u32, u16)
//   3, 7, 8 GC/RestartEEStop, RestartEEStart, SuspendEEStop    u16 runtime
//   9 GC/SuspendEEStart u32 reason, u32 number, u16 runtime (version 0: u16 reason)
//   4 GC/HeapStats      four times {u64 size, u64 promoted}: generations 0 to 2, large objects; u64
//                       bytes, u64 objects promoted for finalizers; u32 pinned objects, u32 sync
//                       blocks, u32 handles, u16 runtime, u64 size, u64 promoted of pinned objects
//   10 GC/AllocationTick u32 bytes, u32 kind, u16 runtime, u64 bytes, P type, S type, u32 heap,
//                       P object, u64 size of the object
//   303 AllocationSampling u32 kind, u16 runtime, P type, S type, P object, u64 size, u64 offset
//   80 Exception/Start  S type, S message, P address, u32 HRESULT, u16 flags, u16 runtime
//   81 Contention/Start u8 flags, u16 runtime, version 2: u64 lock, u64 object, u64 thread of the
//   owner 91 Contention/Stop  u8 flags, u16 runtime, f64 ns 250 ExceptionCatch/Start u64 address,
//   u64 method, S method, u16 runtime 301 WaitHandleWait/Start u8 source, u64 object, u16 runtime
//   302 WaitHandleWait/Stop  u16 runtime
//   55 ThreadPoolWorkerThreadAdjustment/Adjustment f64 throughput, u32 threads, u32 reason
//   50, 51, 57 ThreadPoolWorkerThread/Start, Stop, Wait u32 threads, u32 retired
//   145 Method/JittingStarted u64 method, u64 module, u32 token, u32 bytes of IL, S namespace, S
//                       name, S signature
//   143 Method/LoadVerbose as of method_payload.h
// Source: the manifest of the provider, as Microsoft's documentation of its events has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "bytes/byte_cursor.h"
#include "capture/loss_counters.h"
#include "capture/value_recorder.h"

namespace stackpack::dotnet {

/// Whether a thread begins to wait for a handle, or has waited; and why: the `source` of a start.
enum class HandleWait : std::uint8_t { kNone, kBegins, kEnds };
HandleWait handle_wait(std::uint32_t id);
std::string_view wait_reason(std::uint64_t source);

/// Whether samples of this event of the runtime weigh the bytes that were allocated.
bool weighs_bytes(std::uint32_t id);

/// The bytes in the payload of such an event; nothing when it is too short.
std::optional<std::uint64_t> allocated_bytes(std::uint32_t id, std::span<const std::byte> payload,
                                             unsigned pointer_size);

/// Reads such payloads. A payload that is too short is counted, and says nothing.
///
/// Memory: kMostMethods methods that are being compiled.
class RuntimeValues {
 public:
  static constexpr std::size_t kMostMethods = std::size_t{1} << 14;

  struct Event {
    std::uint32_t id = 0;
    std::span<const std::byte> payload;
    unsigned pointer_size = 8;
    std::uint64_t time_ns = 0;
    std::uint32_t pid = kUnknownId;
    std::uint32_t tid = kUnknownId;
    std::uint64_t offset = 0;    ///< in the file
    bool may_have_stack = true;  ///< false: no sample of this event follows
  };

  /// `recorder` may be null: nothing is kept then. Both must outlive this.
  RuntimeValues(capture::ValueRecorder* recorder, capture::LossCounters& losses)
      : recorder_(recorder), losses_(losses) {}

  /// Whether the payload of this event of the runtime is read.
  static bool wants(std::uint32_t id);

  void event(const Event& event);

 private:
  struct StartedMethod {
    std::uint64_t time_ns = 0;
    std::uint64_t il_bytes = 0;
    std::uint64_t text = 0;
    std::uint32_t tid = kUnknownId;
    bool may_have_stack = true;
  };

  bool read(const Event& event, bytes::ByteCursor& in, capture::RecordedValue& value);
  bool read_allocation(const Event& event, bytes::ByteCursor& in, capture::RecordedValue& value);
  bool read_exception(const Event& event, bytes::ByteCursor& in, capture::RecordedValue& value);
  void compilation_begins(const Event& event, bytes::ByteCursor& in);
  void method_loaded(const Event& event, bytes::ByteCursor& in, capture::RecordedValue value);

  capture::ValueRecorder* recorder_;
  capture::LossCounters& losses_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, StartedMethod> compiled_;  // pid, method
};

}  // namespace stackpack::dotnet
