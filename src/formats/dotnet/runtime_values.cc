#include "formats/dotnet/runtime_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "bytes/wide_text.h"
#include "formats/dotnet/runtime_events.h"

namespace stackpack::dotnet {

using capture::RecordedValue;
using capture::ValueKind;

namespace {

enum RuntimeIds : std::uint32_t {
  kGcStart = 1,
  kGcStop = 2,
  kRestartStop = 3,
  kHeapStats = 4,
  kRestartStart = 7,
  kSuspendStop = 8,
  kSuspendStart = 9,
  kAllocationTick = 10,
  kPoolThreadStart = 50,
  kPoolThreadStop = 51,
  kPoolAdjustment = 55,
  kPoolThreadWait = 57,
  kExceptionStart = 80,
  kContentionStart = 81,
  kContentionStop = 91,
  kMethodLoad = 143,
  kJittingStarted = 145,
  kExceptionCatch = 250,
  kWaitStart = 301,
  kWaitStop = 302,
  kAllocationSampling = 303,
};

constexpr std::size_t kWideAmount = 10;  // of an AllocationTick of version 2 and later

std::uint64_t read_address(bytes::ByteCursor& in, unsigned pointer_size) {
  return pointer_size == 4 ? in.read<std::uint32_t>() : in.read<std::uint64_t>();
}

// Of the runtime in a process, counted from 0; older events do not say.
std::uint64_t read_runtime(bytes::ByteCursor& in) {
  return in.remaining() >= sizeof(std::uint16_t) ? in.read<std::uint16_t>() : 0;
}

std::uint64_t whole_ns(double ns) {
  constexpr double kMost = 1e18;
  return ns >= 0 ? static_cast<std::uint64_t>(std::min(ns, kMost)) : 0;
}

void read_gc_start(bytes::ByteCursor& in, RecordedValue& value) {
  constexpr std::size_t kFirstVersion = 8;
  const bool has_generation = in.remaining() > kFirstVersion;
  value.kind = ValueKind::kGcStart;
  value.values[0] = in.read<std::uint32_t>();
  value.values[1] = has_generation ? in.read<std::uint32_t>() : kNoValue;
  value.values[2] = in.read<std::uint32_t>();
  value.values[3] = has_generation ? in.read<std::uint32_t>() : kNoValue;
  value.values[4] = read_runtime(in);
}

void read_gc_stop(bytes::ByteCursor& in, RecordedValue& value) {
  value.kind = ValueKind::kGcEnd;
  value.values[0] = in.read<std::uint32_t>();
  value.values[1] = in.remaining() >= 4 ? in.read<std::uint32_t>() : in.read<std::uint16_t>();
  value.values[2] = read_runtime(in);
}

void read_suspend_start(bytes::ByteCursor& in, RecordedValue& value) {
  const bool has_number = in.remaining() >= 8;
  value.kind = ValueKind::kSuspendStart;
  value.values[0] = has_number ? in.read<std::uint32_t>() : in.read<std::uint16_t>();
  const std::uint32_t number = has_number ? in.read<std::uint32_t>() : ~std::uint32_t{0};
  value.values[1] = number == ~std::uint32_t{0} ? kNoValue : number;
  value.values[2] = read_runtime(in);
}

void read_heap(bytes::ByteCursor& in, RecordedValue& value) {
  constexpr std::size_t kParts = 4;
  value.kind = ValueKind::kGcHeap;
  std::uint64_t promoted = 0;
  for (std::size_t part = 0; part < kParts; ++part) {
    value.values[part] = in.read<std::uint64_t>();
    promoted += in.read<std::uint64_t>();
  }
  in.skip(2 * sizeof(std::uint64_t));  // promoted for finalizers
  value.values[6] = in.read<std::uint32_t>();
  in.skip(sizeof(std::uint32_t));  // sync blocks
  value.values[7] = in.read<std::uint32_t>();
  value.values[4] = kNoValue;
  if (in.remaining() >= sizeof(std::uint16_t) + 2 * sizeof(std::uint64_t)) {
    in.skip(sizeof(std::uint16_t));
    value.values[4] = in.read<std::uint64_t>();
    promoted += in.read<std::uint64_t>();
  }
  value.values[5] = promoted;
}

void read_pool_adjustment(bytes::ByteCursor& in, RecordedValue& value) {
  value.kind = ValueKind::kThreadPoolAdjustment;
  value.values[0] = in.read<std::uint64_t>();
  value.values[1] = in.read<std::uint32_t>();
  value.values[2] = in.read<std::uint32_t>();
}

void read_pool_threads(std::uint32_t id, bytes::ByteCursor& in, RecordedValue& value) {
  value.kind = ValueKind::kThreadPoolThreads;
  value.values[0] = id == kPoolThreadStart ? 0 : id == kPoolThreadStop ? 1 : 2;
  value.values[1] = in.read<std::uint32_t>();
  value.values[2] = in.read<std::uint32_t>();
}

// 0 stands for what the runtime does not know.
std::uint64_t known_or_none(std::uint64_t value) {
  return value == 0 ? kNoValue : value;
}

void read_contention_start(bytes::ByteCursor& in, RecordedValue& value) {
  value.kind = ValueKind::kContentionStart;
  value.values[3] = in.read<std::uint8_t>();
  in.skip(sizeof(std::uint16_t));
  const bool names_lock = in.remaining() >= 3 * sizeof(std::uint64_t);
  for (std::size_t field = 0; field < 3; ++field) {
    value.values[field] = names_lock ? known_or_none(in.read<std::uint64_t>()) : kNoValue;
  }
}

void read_wait_start(bytes::ByteCursor& in, RecordedValue& value) {
  value.kind = ValueKind::kWaitStart;
  value.values[0] = in.read<std::uint8_t>();
  value.values[1] = known_or_none(in.read<std::uint64_t>());
}

void read_contention(bytes::ByteCursor& in, RecordedValue& value) {
  value.kind = ValueKind::kContention;
  value.values[1] = in.read<std::uint8_t>();
  value.values[0] = kNoValue;
  if (in.remaining() >= sizeof(std::uint16_t) + sizeof(std::uint64_t)) {
    in.skip(sizeof(std::uint16_t));
    value.values[0] = whole_ns(std::bit_cast<double>(in.read<std::uint64_t>()));
  }
}

}  // namespace

namespace {

// The number under which callstacks of an event come.
std::uint8_t number_of_event(std::uint32_t id, bool may_have_stack) {
  constexpr std::size_t kIds = 512;
  static const std::array<std::uint8_t, kIds> by_id = [] {
    std::array<std::uint8_t, kIds> numbers{};
    for (std::size_t i = 0; i < kIds; ++i) {
      const std::string name(event_name(Provider::kRuntime, static_cast<std::uint32_t>(i)));
      numbers[i] = capture::valued_event("Microsoft-Windows-DotNETRuntime/" + name)
                       .value_or(RecordedValue::kNoEvent);
    }
    return numbers;
  }();
  return may_have_stack && id < kIds ? by_id[id] : RecordedValue::kNoEvent;
}

}  // namespace

bool RuntimeValues::wants(std::uint32_t id) {
  switch (id) {
    case kGcStart:
    case kGcStop:
    case kRestartStop:
    case kHeapStats:
    case kRestartStart:
    case kSuspendStop:
    case kSuspendStart:
    case kAllocationTick:
    case kPoolThreadStart:
    case kPoolThreadStop:
    case kPoolAdjustment:
    case kPoolThreadWait:
    case kExceptionStart:
    case kContentionStart:
    case kContentionStop:
    case kExceptionCatch:
    case kWaitStart:
    case kWaitStop:
    case kMethodLoad:
    case kJittingStarted:
    case kAllocationSampling:
      return true;
    default:
      return false;
  }
}

HandleWait handle_wait(std::uint32_t id) {
  return id == kWaitStart  ? HandleWait::kBegins
         : id == kWaitStop ? HandleWait::kEnds
                           : HandleWait::kNone;
}

std::string_view wait_reason(std::uint64_t source) {
  constexpr std::uint64_t kMonitorWait = 1;
  return source == kMonitorWait ? "Monitor.Wait" : "WaitHandle";
}

bool weighs_bytes(std::uint32_t id) {
  return id == kAllocationTick || id == kAllocationSampling;
}

std::optional<std::uint64_t> allocated_bytes(std::uint32_t id, std::span<const std::byte> payload,
                                             unsigned pointer_size) {
  bytes::ByteCursor in(payload, 0);
  std::uint64_t bytes = 0;
  if (id == kAllocationSampling) {
    std::string type;
    in.skip(6 + pointer_size);
    bytes::append_wide_text(in, type);
    in.skip(pointer_size);
    bytes = in.read<std::uint64_t>();
  } else {
    bytes = in.read<std::uint32_t>();
    if (payload.size() >= kWideAmount + sizeof(std::uint64_t)) {
      in.seek(kWideAmount);
      bytes = in.read<std::uint64_t>();
    }
  }
  return in.ok() ? std::optional(bytes) : std::nullopt;
}

void RuntimeValues::event(const Event& event) {
  if (recorder_ == nullptr) {
    return;
  }
  bytes::ByteCursor in(event.payload, event.offset);
  RecordedValue value;
  value.time_ns = event.time_ns;
  value.stack_time_ns = event.time_ns;
  value.stack_tid = event.tid;
  value.pid = event.pid;
  value.tid = event.tid;
  if (event.id == kJittingStarted) {
    compilation_begins(event, in);
  } else if (event.id == kMethodLoad) {
    method_loaded(event, in, value);
    return;  // who reads methods counts those that are too short
  } else if (read(event, in, value)) {
    value.stack_event = number_of_event(event.id, event.may_have_stack);
    recorder_->add(value);
  }
  if (!in.ok()) {
    losses_.add(capture::value_loss::kBadValues, LossKind::kDamage, 1, event.offset);
  }
}

bool RuntimeValues::read(const Event& event, bytes::ByteCursor& in, RecordedValue& value) {
  switch (event.id) {
    case kGcStart:
      read_gc_start(in, value);
      break;
    case kGcStop:
      read_gc_stop(in, value);
      break;
    case kSuspendStart:
      read_suspend_start(in, value);
      break;
    case kSuspendStop:
      value.kind = ValueKind::kSuspendEnd;
      value.values[0] = read_runtime(in);
      break;
    case kRestartStart:
      value.kind = ValueKind::kRestartStart;
      value.values[0] = read_runtime(in);
      break;
    case kRestartStop:
      value.kind = ValueKind::kRestartEnd;
      value.values[0] = read_runtime(in);
      break;
    case kHeapStats:
      read_heap(in, value);
      break;
    case kPoolAdjustment:
      read_pool_adjustment(in, value);
      break;
    case kPoolThreadStart:
    case kPoolThreadStop:
    case kPoolThreadWait:
      read_pool_threads(event.id, in, value);
      break;
    case kContentionStart:
      read_contention_start(in, value);
      break;
    case kContentionStop:
      read_contention(in, value);
      break;
    case kWaitStart:
      read_wait_start(in, value);
      break;
    case kWaitStop:
      value.kind = ValueKind::kWaitEnd;
      value.values[0] = read_runtime(in);
      break;
    case kExceptionCatch: {
      std::string method;
      in.skip(2 * sizeof(std::uint64_t));
      bytes::append_wide_text(in, method);
      value.kind = ValueKind::kExceptionCatch;
      value.values[0] = in.ok() ? recorder_->text(method) : 0;
      break;
    }
    case kExceptionStart:
      return read_exception(event, in, value);
    default:
      return read_allocation(event, in, value);
  }
  return in.ok();
}

bool RuntimeValues::read_allocation(const Event& event, bytes::ByteCursor& in,
                                    RecordedValue& value) {
  value.kind = ValueKind::kAllocation;
  value.values[3] = kNoValue;
  std::string type;
  if (event.id == kAllocationSampling) {
    value.values[1] = in.read<std::uint32_t>();
    in.skip(sizeof(std::uint16_t) + event.pointer_size);
    bytes::append_wide_text(in, type);
    in.skip(event.pointer_size);
    value.values[3] = in.read<std::uint64_t>();
    value.values[0] = value.values[3];
  } else {
    value.values[0] = in.read<std::uint32_t>();
    value.values[1] = in.read<std::uint32_t>();
    if (event.payload.size() >= kWideAmount + sizeof(std::uint64_t)) {
      in.seek(kWideAmount);
      value.values[0] = in.read<std::uint64_t>();
      in.skip(event.pointer_size);
      bytes::append_wide_text(in, type);
    }
    constexpr std::size_t kHeap = sizeof(std::uint32_t);
    if (in.ok() && in.remaining() >= kHeap + event.pointer_size + sizeof(std::uint64_t)) {
      in.skip(kHeap + event.pointer_size);
      value.values[3] = in.read<std::uint64_t>();
    }
  }
  value.values[2] = in.ok() ? recorder_->text(type) : 0;
  return in.ok();
}

bool RuntimeValues::read_exception(const Event& event, bytes::ByteCursor& in,
                                   RecordedValue& value) {
  value.kind = ValueKind::kException;
  if (event.payload.empty()) {  // version 0
    value.values[2] = kNoValue;
    value.values[3] = kNoValue;
    return true;
  }
  std::string type;
  std::string message;
  bytes::append_wide_text(in, type);
  bytes::append_wide_text(in, message);
  read_address(in, event.pointer_size);
  value.values[2] = in.read<std::uint32_t>();
  value.values[3] = in.read<std::uint16_t>();
  if (in.ok()) {
    value.values[0] = recorder_->text(type);
    value.values[1] = recorder_->message(message);
  }
  return in.ok();
}

void RuntimeValues::compilation_begins(const Event& event, bytes::ByteCursor& in) {
  StartedMethod method;
  const auto id = in.read<std::uint64_t>();
  in.skip(sizeof(std::uint64_t) + sizeof(std::uint32_t));
  method.il_bytes = in.read<std::uint32_t>();
  std::string name;
  bytes::append_wide_text(in, name);
  name += name.empty() ? "" : ".";
  bytes::append_wide_text(in, name);
  if (!in.ok()) {
    return;
  }
  method.text = recorder_->text(name);
  method.time_ns = event.time_ns;
  method.tid = event.tid;
  method.may_have_stack = event.may_have_stack;
  if (compiled_.size() >= kMostMethods) {
    compiled_.clear();  // of these nobody says when they were ready
  }
  compiled_.insert_or_assign({event.pid, id}, method);
}

void RuntimeValues::method_loaded(const Event& event, bytes::ByteCursor& in, RecordedValue value) {
  constexpr unsigned kTierShift = 7;
  const auto id = in.read<std::uint64_t>();
  const auto found = compiled_.find({event.pid, id});
  in.skip(2 * sizeof(std::uint64_t));
  const auto code_bytes = in.read<std::uint32_t>();
  in.skip(sizeof(std::uint32_t));
  const auto flags = in.read<std::uint32_t>();
  if (!in.ok() || found == compiled_.end()) {
    return;
  }
  const StartedMethod method = found->second;
  compiled_.erase(found);
  value.kind = ValueKind::kJit;
  value.time_ns = method.time_ns;
  value.tid = method.tid;
  value.stack_time_ns = method.time_ns;
  value.stack_tid = method.tid;
  value.stack_event = number_of_event(kJittingStarted, method.may_have_stack);
  value.values[0] = event.time_ns >= method.time_ns ? event.time_ns - method.time_ns : 0;
  value.values[1] = code_bytes;
  value.values[2] = method.il_bytes;
  value.values[3] = flags >> kTierShift & 7;
  value.values[4] = method.text;
  recorder_->add(value);
}

}  // namespace stackpack::dotnet
