#include "app/analysis/lock_waits.h"

#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace stackpack::app {

namespace {

using capture::ValueKind;

constexpr std::size_t kMostHeld = std::size_t{1} << 18;

// The events of .NET, which come by time.
class RuntimeWaits {
 public:
  explicit RuntimeWaits(const std::function<void(const LockWait&)>& visit) : visit_(visit) {}

  void take(const EventValueTable::Row& row) {
    switch (row.kind) {
      case ValueKind::kContentionStart:
        return begin(row, contention(row));
      case ValueKind::kWaitStart:
        return begin(row, handle_wait(row));
      case ValueKind::kContention:
        return end(row, kContention, row.fields[0]);
      case ValueKind::kWaitEnd:
        return end(row, kHandle, kNoValue);
      default:
        return;
    }
  }

  [[nodiscard]] LockWaitsLeft left() const {
    LockWaitsLeft left = left_;
    left.still_waiting += open_.size();
    return left;
  }

 private:
  enum Source : unsigned { kContention, kHandle };
  using Thread = std::tuple<std::uint32_t, std::uint32_t>;               // pid, tid
  using Held = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>;  // pid, lock, tid

  static std::string_view kind_of(std::uint64_t flags) {
    return flags == 1 ? "runtime" : "managed";
  }

  static LockWait contention(const EventValueTable::Row& row) {
    enum Fields : std::size_t { kLock, kObject, kOwner, kFlags };
    LockWait wait;
    wait.source = "contention";
    wait.kind = kind_of(row.fields[kFlags]);
    wait.lock = row.fields[kLock];
    wait.object = row.fields[kObject];
    if (row.fields[kOwner] < kUnknownId) {
      wait.holder = static_cast<std::uint32_t>(row.fields[kOwner]);
    }
    return wait;
  }

  static LockWait handle_wait(const EventValueTable::Row& row) {
    enum Fields : std::size_t { kSource, kObject };
    LockWait wait;
    wait.source = "wait";
    wait.kind = row.fields[kSource] == 1 ? "monitor wait" : "handle";
    wait.is_lock = false;
    wait.lock = row.fields[kObject];
    wait.object = wait.lock;
    return wait;
  }

  void begin(const EventValueTable::Row& row, LockWait wait) {
    const EventValue& value = *row.value;
    wait.from_ns = value.time_ns;
    wait.pid = value.pid;
    wait.tid = value.tid;
    wait.stack = value.stack;
    if (const auto held = held_.find({wait.pid, wait.lock, wait.holder}); held != held_.end()) {
      wait.holder_stack = held->second;
    }
    const Source source = wait.is_lock ? kContention : kHandle;
    const auto [known, fresh] = open_.insert_or_assign({Thread{wait.pid, wait.tid}, source}, wait);
    left_.still_waiting += fresh ? 0U : 1U;
  }

  void end(const EventValueTable::Row& row, Source source, std::uint64_t recorded_ns) {
    const EventValue& value = *row.value;
    const auto found = open_.find({Thread{value.pid, value.tid}, source});
    LockWait wait;
    if (found != open_.end()) {
      wait = found->second;
      open_.erase(found);
    } else if (recorded_ns == kNoValue || recorded_ns > value.time_ns) {
      ++left_.without_begin;
      return;
    } else {
      wait.source = "contention";
      wait.kind = kind_of(row.fields[1]);
      wait.from_ns = value.time_ns - recorded_ns;
      wait.pid = value.pid;
      wait.tid = value.tid;
    }
    wait.to_ns = value.time_ns;
    wait.ns = recorded_ns != kNoValue ? recorded_ns : wait.to_ns - wait.from_ns;
    wait.stack = wait.stack != kNoStack ? wait.stack : value.stack;  // before .NET 10
    if (wait.is_lock && wait.lock != kNoValue && held_.size() < kMostHeld) {
      held_.insert_or_assign({wait.pid, wait.lock, wait.tid}, wait.stack);
    }
    visit_(wait);
  }

  const std::function<void(const LockWait&)>& visit_;
  LockWaitsLeft left_;
  std::map<std::pair<Thread, Source>, LockWait> open_;
  std::map<Held, StackId> held_;  // callstacks with which threads waited for locks
};

}  // namespace

Result<LockWaitsLeft> visit_lock_waits(const EventValueTable& values,
                                       const std::function<void(const LockWait&)>& visit) {
  RuntimeWaits runtime(visit);
  const Status read =
      values.visit([&runtime](const EventValueTable::Row& row) { runtime.take(row); });
  return read ? Result<LockWaitsLeft>(runtime.left()) : Result<LockWaitsLeft>(read.error());
}

}  // namespace stackpack::app
