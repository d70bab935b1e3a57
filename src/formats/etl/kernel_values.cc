#include "formats/etl/kernel_values.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "bytes/wide_text.h"
#include "formats/etl/event/etl_event_names.h"
#include "formats/etl/event/payload_pointer.h"

namespace stackpack::etl {

using capture::RecordedValue;
using capture::ValueKind;

namespace {

constexpr std::uint8_t kGroupDisk = 1;
constexpr std::uint8_t kGroupMemory = 2;
constexpr std::uint8_t kGroupFile = 4;
constexpr std::uint8_t kGroupTcp = 6;
constexpr std::uint8_t kGroupUdp = 8;
constexpr std::uint8_t kGroupHeap = 16;

enum DiskTypes : std::uint8_t {
  kDiskRead = 10,
  kDiskWrite = 11,
  kDiskReadInit = 12,
  kDiskWriteInit = 13,
  kDiskFlush = 14,
  kDiskFlushInit = 15,
};
enum MemoryTypes : std::uint8_t { kHardFault = 32, kVirtualAlloc = 98, kVirtualFree = 99 };
enum FileTypes : std::uint8_t {
  kFileName = 0,
  kFileNameNew = 32,
  kFileNameGone = 35,
  kFileNameRundown = 36,
  kFileCreate = 64,
  kFileCleanup = 65,
  kFileClose = 66,
  kFileRead = 67,
  kFileWrite = 68,
  kFileFlush = 73,
  kFileEnd = 76,
};
enum HeapTypes : std::uint8_t { kHeapAlloc = 33, kHeapReAlloc = 34, kHeapFree = 36 };
enum ImageTypes : std::uint8_t { kImageUnload = 2, kImageLoad = 10 };
constexpr std::uint8_t kSend = 10;
constexpr std::uint8_t kReceive = 11;
constexpr std::uint8_t kSend6 = 26;
constexpr std::uint8_t kReceive6 = 27;

// From this version on of disk events the thread is told, and of file events it has 32 bits.
constexpr std::uint16_t kThreadVersion = 3;

bool is_file_name(std::uint8_t type) {
  return type == kFileName || type == kFileNameNew || type == kFileNameGone ||
         type == kFileNameRundown;
}

std::uint8_t number_of_event(std::uint8_t group, std::uint8_t type) {
  return capture::valued_event(kernel_event_name(group, type)).value_or(RecordedValue::kNoEvent);
}

std::uint64_t read_thread(bytes::ByteCursor& in, const EventView& event) {
  return event.version >= kThreadVersion && in.remaining() >= sizeof(std::uint32_t)
             ? in.read<std::uint32_t>()
             : kUnknownId;
}

// Ports are in the order of bytes of the network.
std::uint64_t read_port(bytes::ByteCursor& in) {
  const auto high = in.read<std::uint8_t>();
  return std::uint64_t{high} << 8U | in.read<std::uint8_t>();
}

}  // namespace

bool KernelValues::wants(std::uint8_t group, std::uint8_t type) {
  switch (group) {
    case kGroupDisk:
      return type >= kDiskRead && type <= kDiskFlushInit;
    case kGroupMemory:
      return type == kHardFault || type == kVirtualAlloc || type == kVirtualFree;
    case kGroupFile:
      return is_file_name(type) || (type >= kFileCreate && type <= kFileWrite) ||
             type == kFileFlush || type == kFileEnd;
    case kGroupTcp:
    case kGroupUdp:
      return type == kSend || type == kReceive || type == kSend6 || type == kReceive6;
    case kGroupHeap:
      return type == kHeapAlloc || type == kHeapReAlloc || type == kHeapFree;
    case kGroupImage:
      return type == kImageLoad || type == kImageUnload;
    default:
      return false;
  }
}

void KernelValues::event(const EventView& event, const EventPlace& place, const Thread& thread) {
  if (recorder_ == nullptr || event.version < 2) {
    return;
  }
  bytes::ByteCursor in(event.payload, place.file_offset);
  RecordedValue value;
  value.time_ns = clock_.unix_ns(event.clock);
  value.stack_time_ns = value.time_ns;
  value.stack_event = number_of_event(event.group, event.type);
  value.pid = thread.pid;
  value.tid = thread.tid;
  bool read = false;
  switch (event.group) {
    case kGroupDisk:
      read = disk(event, in, value);
      break;
    case kGroupMemory:
      read = event.type == kHardFault ? fault(event, in, value) : memory(event, in, value);
      break;
    case kGroupFile:
      if (is_file_name(event.type)) {
        file_named(event, in);
      } else if (event.type == kFileEnd) {
        file_ends(event, in);
      } else {
        file_begins(event, in, value);
      }
      break;
    case kGroupHeap:
      read = heap(event, in, value);
      break;
    case kGroupImage:
      read = image(event, in, value);
      break;
    default:
      read = network(event, in, value);
      break;
  }
  if (read) {
    recorder_->add(value);
  }
  if (!in.ok()) {
    losses_.add(capture::value_loss::kBadValues, LossKind::kDamage, 1, place.file_offset);
  }
}

std::uint64_t KernelValues::ns_between(std::uint64_t from, std::uint64_t to) const {
  const std::uint64_t from_ns = clock_.unix_ns(from);
  const std::uint64_t to_ns = clock_.unix_ns(to);
  return from_ns <= to_ns && from != 0 ? to_ns - from_ns : kNoValue;
}

bool KernelValues::disk(const EventView& event, bytes::ByteCursor& in, RecordedValue& value) {
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  if (event.type != kDiskRead && event.type != kDiskWrite && event.type != kDiskFlush) {
    disk_begins(event, in, value.tid);
    return false;
  }
  const bool flush = event.type == kDiskFlush;
  value.kind = ValueKind::kDiskIo;
  value.values[0] = flush                     ? kOperationFlush
                    : event.type == kDiskRead ? kOperationRead
                                              : kOperationWrite;
  value.values[4] = in.read<std::uint32_t>();
  in.skip(sizeof(std::uint32_t));
  std::uint64_t request = 0;
  std::uint64_t ticks = 0;
  if (flush) {
    value.values[3] = kNoValue;
    ticks = in.read<std::uint64_t>();
    request = read_pointer(in, event.pointer_size);
  } else {
    value.values[1] = in.read<std::uint32_t>();
    in.skip(sizeof(std::uint32_t));
    value.values[3] = in.read<std::uint64_t>();
    value.values[5] = read_pointer(in, event.pointer_size);
    value.keyed = 1U << 5U;
    request = read_pointer(in, event.pointer_size);
    ticks = in.read<std::uint64_t>();
  }
  const std::uint64_t seconds = frequency_ == 0 ? 0 : ticks / frequency_;
  value.values[2] = frequency_ == 0 || seconds > kNsPerSecond
                        ? kNoValue
                        : seconds * kNsPerSecond + ticks % frequency_ * kNsPerSecond / frequency_;
  value.tid = static_cast<std::uint32_t>(read_thread(in, event));
  value.pid = kUnknownId;
  if (const auto begun = disk_requests_.find(request); begun != disk_requests_.end()) {
    // The end comes in whatever thread runs then: the callstack of the begin is who asked for it.
    value.stack_time_ns = clock_.unix_ns(begun->second.clock);
    value.stack_event = number_of_event(kGroupDisk, begun->second.type);
    value.tid = value.tid == kUnknownId ? begun->second.tid : value.tid;
    disk_requests_.erase(begun);
  }
  return in.ok();
}

void KernelValues::disk_begins(const EventView& event, bytes::ByteCursor& in, std::uint32_t tid) {
  const std::uint64_t request = read_pointer(in, event.pointer_size);
  const auto told = static_cast<std::uint32_t>(read_thread(in, event));
  if (!in.ok()) {
    return;
  }
  if (disk_requests_.size() >= kMostRequests) {
    losses_.add(capture::value_loss::kForgottenRequests, LossKind::kNotice, disk_requests_.size());
    disk_requests_.clear();
  }
  disk_requests_[request] = {event.clock, told == kUnknownId ? tid : told, event.type};
}

void KernelValues::file_named(const EventView& event, bytes::ByteCursor& in) {
  const std::uint64_t key = read_pointer(in, event.pointer_size);
  std::string path;
  bytes::append_wide_text(in, path);
  if (in.ok()) {
    // A file that goes had its name until then.
    const std::uint64_t time_ns = event.type == kFileNameGone || event.type == kFileNameRundown
                                      ? 0
                                      : clock_.unix_ns(event.clock);
    recorder_->name_file(key, time_ns, path);
  }
}

void KernelValues::file_begins(const EventView& event, bytes::ByteCursor& in,
                               RecordedValue& value) {
  const bool transfer = event.type == kFileRead || event.type == kFileWrite;
  const bool old = event.version < kThreadVersion;
  value.kind = ValueKind::kFileIo;
  value.values[0] = event.type;
  value.values[3] = transfer ? in.read<std::uint64_t>() : kNoValue;
  const std::uint64_t request = read_pointer(in, event.pointer_size);
  in.skip(old ? event.pointer_size : 0U);
  const std::uint64_t object = read_pointer(in, event.pointer_size);
  const std::uint64_t file =
      event.type == kFileCreate ? object : read_pointer(in, event.pointer_size);
  if (const auto tid = static_cast<std::uint32_t>(read_thread(in, event)); tid != kUnknownId) {
    value.tid = tid;
  }
  value.values[1] = transfer ? in.read<std::uint32_t>() : 0;
  value.values[2] = kNoValue;
  value.values[4] = kNoValue;
  if (event.type == kFileCreate) {
    in.skip(3 * sizeof(std::uint32_t));
    std::string path;
    bytes::append_wide_text(in, path);
    value.values[5] = in.ok() ? recorder_->path(path) : 0;
  } else {
    value.values[5] = file;
    value.keyed = 1U << 5U;
  }
  if (!in.ok()) {
    return;
  }
  if (file_requests_.size() >= kMostRequests) {
    losses_.add(capture::value_loss::kForgottenRequests, LossKind::kNotice, file_requests_.size());
    finish();
  }
  const auto [known, fresh] = file_requests_.try_emplace(request, FileRequest{value, event.clock});
  if (!fresh) {
    recorder_->add(known->second.value);
    known->second = {value, event.clock};
  }
}

void KernelValues::file_ends(const EventView& event, bytes::ByteCursor& in) {
  const std::uint64_t request = read_pointer(in, event.pointer_size);
  read_pointer(in, event.pointer_size);
  const auto status = in.read<std::uint32_t>();
  const auto begun = file_requests_.find(request);
  if (!in.ok() || begun == file_requests_.end()) {
    return;
  }
  RecordedValue value = begun->second.value;
  value.values[2] = ns_between(begun->second.clock, event.clock);
  value.values[4] = status;
  file_requests_.erase(begun);
  recorder_->add(value);
}

bool KernelValues::fault(const EventView& event, bytes::ByteCursor& in, RecordedValue& value) {
  value.kind = ValueKind::kHardFault;
  value.values[1] = ns_between(in.read<std::uint64_t>(), event.clock);
  value.values[2] = in.read<std::uint64_t>();
  value.values[3] = read_pointer(in, event.pointer_size);
  value.values[4] = read_pointer(in, event.pointer_size);
  value.keyed = 1U << 4U;
  value.tid = in.read<std::uint32_t>();
  value.pid = kUnknownId;
  value.values[0] = in.read<std::uint32_t>();
  return in.ok();
}

bool KernelValues::memory(const EventView& event, bytes::ByteCursor& in, RecordedValue& value) {
  value.kind = ValueKind::kVirtualMemory;
  value.values[0] = event.type == kVirtualFree ? 1 : 0;
  value.values[2] = read_pointer(in, event.pointer_size);
  value.values[1] = read_pointer(in, event.pointer_size);
  value.pid = in.read<std::uint32_t>();
  value.values[3] = in.read<std::uint32_t>();
  return in.ok();
}

bool KernelValues::heap(const EventView& event, bytes::ByteCursor& in, RecordedValue& value) {
  value.kind = ValueKind::kHeap;
  value.values[3] = read_pointer(in, event.pointer_size);
  value.values[4] = kNoValue;
  switch (event.type) {
    case kHeapAlloc:
      value.values[0] = kHeapAllocates;
      value.values[1] = read_pointer(in, event.pointer_size);
      value.values[2] = read_pointer(in, event.pointer_size);
      break;
    case kHeapReAlloc:
      value.values[0] = kHeapMoves;
      value.values[2] = read_pointer(in, event.pointer_size);
      value.values[4] = read_pointer(in, event.pointer_size);
      value.values[1] = read_pointer(in, event.pointer_size);
      break;
    default:
      value.values[0] = kHeapFrees;
      value.values[1] = kNoValue;
      value.values[2] = read_pointer(in, event.pointer_size);
      break;
  }
  return in.ok();
}

bool KernelValues::image(const EventView& event, bytes::ByteCursor& in, RecordedValue& value) {
  value.kind = ValueKind::kImage;
  value.values[0] = event.type == kImageUnload ? 1 : 0;
  value.values[2] = read_pointer(in, event.pointer_size);
  value.values[1] = read_pointer(in, event.pointer_size);
  value.pid = in.read<std::uint32_t>();
  in.skip(3 * sizeof(std::uint32_t));  // checksum, time stamp, signature
  read_pointer(in, event.pointer_size);
  in.skip(4 * sizeof(std::uint32_t));
  if (in.ok()) {
    std::string path;
    bytes::append_wide_text(in, path);
    value.values[3] = recorder_->path(path);
  }
  return in.ok();
}

bool KernelValues::network(const EventView& event, bytes::ByteCursor& in, RecordedValue& value) {
  const bool wide = event.type == kSend6 || event.type == kReceive6;
  value.kind = ValueKind::kNetwork;
  value.values[0] = event.type == kReceive || event.type == kReceive6 ? 1 : 0;
  value.values[1] = event.group == kGroupUdp ? 1 : 0;
  value.pid = in.read<std::uint32_t>();
  value.values[2] = in.read<std::uint32_t>();
  in.skip(wide ? 32U : 8U);
  value.values[3] = read_port(in);
  value.values[4] = read_port(in);
  return in.ok();
}

void KernelValues::finish() {
  if (recorder_ == nullptr) {
    return;
  }
  std::vector<RecordedValue> left;
  for (const auto& [request, begun] : file_requests_) {
    left.push_back(begun.value);
  }
  file_requests_.clear();
  // Whatever order a table has, the file has one.
  std::sort(left.begin(), left.end(), [](const RecordedValue& a, const RecordedValue& b) {
    return std::tie(a.time_ns, a.tid, a.values) < std::tie(b.time_ns, b.tid, b.values);
  });
  for (const RecordedValue& value : left) {
    recorder_->add(value);
  }
}

}  // namespace stackpack::etl
