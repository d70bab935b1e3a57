#include "app/analysis/io_report.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/analysis/event_value_table.h"
#include "app/analysis/held_memory.h"
#include "core/sort_rows.h"

namespace stackpack::app {

using capture::ValueKind;

namespace {

// What an operation is and moved.
struct Operation {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t ns = kNoValue;
  std::uint64_t file = 0;
  bool of_file = true;
};

std::string file_operation(std::uint64_t type) {
  constexpr std::uint64_t kFirst = 64;
  constexpr std::array<std::string_view, 10> kNames = {"create", "cleanup",  "close",  "read",
                                                       "write",  "set info", "delete", "rename",
                                                       "list",   "flush"};
  return type >= kFirst && type - kFirst < kNames.size()
             ? "file " + std::string(kNames[static_cast<std::size_t>(type - kFirst)])
             : fmt::format("file operation {}", type);
}

// False: the row is no operation.
bool operation_of(const EventValueTable::Row& row, Operation& operation) {
  constexpr std::array<std::string_view, 3> kDisk = {"disk read", "disk write", "disk flush"};
  switch (row.kind) {
    case ValueKind::kDiskIo:
      operation = {
          std::string(row.fields[0] < kDisk.size() ? kDisk[static_cast<std::size_t>(row.fields[0])]
                                                   : "disk operation"),
          row.fields[1], row.fields[2], row.fields[5], row.fields[0] < 2};
      return true;
    case ValueKind::kFileIo:
      operation = {file_operation(row.fields[0]), row.fields[1], row.fields[2], row.fields[5],
                   true};
      return true;
    case ValueKind::kHardFault:
      operation = {"hard fault", row.fields[0], row.fields[1], row.fields[4], true};
      return true;
    case ValueKind::kNetwork:
      operation = {fmt::format("{} {}", row.fields[1] == 1 ? "UDP" : "TCP",
                               row.fields[0] == 1 ? "receive" : "send"),
                   row.fields[2], kNoValue, 0, false};
      return true;
    default:
      return false;
  }
}

void add(ValueSum& sum, const Operation& operation) {
  ++sum.count;
  sum.bytes += operation.bytes == kNoValue ? 0 : operation.bytes;
  if (operation.ns != kNoValue) {
    sum.ns += operation.ns;
    sum.most_ns = std::max(sum.most_ns, operation.ns);
  }
}

// What is held for whom at the end.
Status report_held(const HeldMemory& memory, EventValueTable& values, std::size_t limit,
                   HeldReport& report) {
  ValueSums functions;
  std::map<std::pair<StackId, std::uint32_t>, HeldStack> stacks;
  for (const auto& [pid, ranges] : memory.processes()) {
    for (const auto& [begin, range] : ranges) {
      EventValue commit;
      commit.pid = pid;
      commit.stack = range.owner.stack;
      commit.time_ns = range.owner.time_ns;
      const Result<std::string> function = values.function(commit);
      if (!function) {
        return function.error();
      }
      ValueSum& sum = functions.of(function->empty() ? "(no callstack)" : *function);
      ++sum.count;
      sum.bytes += range.end - begin;
      HeldStack& stack = stacks[{commit.stack, pid}];
      stack.stack = commit.stack;
      stack.pid = pid;
      stack.bytes += range.end - begin;
      ++stack.ranges;
      report.bytes += range.end - begin;
    }
  }
  for (const auto& [key, stack] : stacks) {
    report.stacks.push_back(stack);
  }
  core::sort_rows(report.stacks,
                  [](const HeldStack& a, const HeldStack& b) { return a.bytes > b.bytes; });
  if (limit != 0 && report.stacks.size() > limit) {
    report.stacks.resize(limit);
  }
  report.functions = functions.largest(limit, [](const ValueSum& sum) { return sum.bytes; });
  report.all_functions = functions.size();
  report.most_bytes = memory.most_bytes();
  report.over_limit = memory.forgotten();
  return {};
}

// False: it changes nothing of what is committed.
bool take_memory(const EventValueTable::Row& row, HeldMemory& memory) {
  enum Fields : std::size_t { kOperation, kBytes, kAddress, kFlags };
  enum Flags : std::uint64_t { kCommit = 0x1000, kDecommit = 0x4000, kRelease = 0x8000 };
  if (row.kind != ValueKind::kVirtualMemory || row.fields[kFlags] == kNoValue) {
    return false;
  }
  const EventValue& value = *row.value;
  const bool frees = row.fields[kOperation] != 0;
  if (!frees && (row.fields[kFlags] & kCommit) != 0) {
    memory.commit(value.pid, row.fields[kAddress], row.fields[kBytes],
                  {value.stack, value.time_ns});
    return true;
  }
  if (frees && (row.fields[kFlags] & (kDecommit | kRelease)) != 0) {
    memory.release(value.pid, row.fields[kAddress], row.fields[kBytes]);
    return true;
  }
  return false;
}

// False: it is nothing of a heap.
bool take_heap(const EventValueTable::Row& row, HeldMemory& memory) {
  enum Fields : std::size_t { kOperation, kBytes, kAddress, kHeap, kBefore };
  enum Operations : std::uint64_t { kAllocates, kFrees, kMoves };
  if (row.kind != ValueKind::kHeap) {
    return false;
  }
  const EventValue& value = *row.value;
  const std::uint64_t operation = row.fields[kOperation];
  if (operation != kAllocates) {
    memory.free(value.pid, row.fields[operation == kMoves ? kBefore : kAddress]);
  }
  if (operation != kFrees) {
    // A place that is given out again was freed, even where nothing says so.
    memory.release(value.pid, row.fields[kAddress], row.fields[kBytes]);
    memory.commit(value.pid, row.fields[kAddress], row.fields[kBytes],
                  {value.stack, value.time_ns});
  }
  return true;
}

// Adds up operations, and what is held of memory.
class IoSums {
 public:
  explicit IoSums(EventValueTable& values) : values_(values) {}

  Status take(const EventValueTable::Row& row) {
    Operation operation;
    memory_operations_ += take_memory(row, memory_) ? 1U : 0U;
    heap_operations_ += take_heap(row, heap_) ? 1U : 0U;
    if (!operation_of(row, operation)) {
      return {};
    }
    add(operations_.of(operation.name), operation);
    // A hard fault is a read of the disk that is there by itself.
    const bool counts_again = row.kind == ValueKind::kHardFault || row.kind == ValueKind::kFileIo;
    has_disk_ = has_disk_ || row.kind == ValueKind::kDiskIo;
    return add_to(counts_again ? of_files_ : of_disk_, *row.value, operation);
  }

  Result<IoReport> report(IoOrder order, std::size_t limit) {
    IoReport report;
    report.memory.operations = memory_operations_;
    report.heap.operations = heap_operations_;
    Status held = report_held(memory_, values_, limit, report.memory);
    held = held ? report_held(heap_, values_, limit, report.heap) : held;
    if (!held) {
      return held.error();
    }
    const auto measure = [order](const ValueSum& sum) {
      return order == IoOrder::kBytes ? sum.bytes : order == IoOrder::kLatency ? sum.ns : sum.count;
    };
    const Sums& sums = !has_disk_ && of_files_.functions.size() != 0 ? of_files_ : of_disk_;
    report.operations = operations_.largest(0, measure);
    report.files = sums.files.largest(limit, measure);
    report.functions = sums.functions.largest(limit, measure);
    report.processes = sums.processes.largest(limit, measure);
    report.all_files = sums.files.size();
    report.all_functions = sums.functions.size();
    return report;
  }

 private:
  struct Sums {
    ValueSums files;
    ValueSums functions;
    ValueSums processes;
  };

  Status add_to(Sums& sums, const EventValue& value, const Operation& operation) {
    if (operation.of_file) {
      const std::string& file = values_.text(operation.file);
      add(sums.files.of(file.empty() ? "(unknown file)" : file), operation);
    }
    const Result<std::string> function = values_.function(value);
    if (!function) {
      return function.error();
    }
    add(sums.functions.of(function->empty() ? "(no callstack)" : *function), operation);
    add(sums.processes.of(values_.process(value.pid, value.time_ns)), operation);
    return {};
  }

  EventValueTable& values_;
  ValueSums operations_;
  Sums of_disk_;
  Sums of_files_;
  bool has_disk_ = false;
  HeldMemory memory_;
  HeldMemory heap_;
  std::uint64_t memory_operations_ = 0;
  std::uint64_t heap_operations_ = 0;
};

}  // namespace

Result<IoReport> io_report(const Reader& reader, IoOrder order, std::size_t limit) {
  Result<EventValueTable> values = EventValueTable::load(reader);
  if (!values) {
    return values.error();
  }
  IoSums sums(*values);
  Status status;
  const Status read = values->visit(
      [&](const EventValueTable::Row& row) { status = status ? sums.take(row) : status; });
  status = read ? status : read;
  return status ? sums.report(order, limit) : status.error();
}

}  // namespace stackpack::app
