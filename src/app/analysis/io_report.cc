#include "app/analysis/io_report.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "app/analysis/event_value_table.h"

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

}  // namespace

Result<IoReport> io_report(const Reader& reader, IoOrder order, std::size_t limit) {
  Result<EventValueTable> values = EventValueTable::load(reader);
  if (!values) {
    return values.error();
  }
  ValueSums operations;
  ValueSums of_disk[3];  // files, functions, processes
  ValueSums of_files[3];
  bool has_disk = false;
  Status named;
  const Status read = values->visit([&](const EventValueTable::Row& row) {
    Operation operation;
    if (!operation_of(row, operation)) {
      return;
    }
    add(operations.of(operation.name), operation);
    // A hard fault is a read of the disk that is there by itself.
    const bool counts_again = row.kind == ValueKind::kHardFault || row.kind == ValueKind::kFileIo;
    has_disk = has_disk || row.kind == ValueKind::kDiskIo;
    ValueSums* const sums = counts_again ? of_files : of_disk;
    if (operation.of_file) {
      const std::string& file = values->text(operation.file);
      add(sums[0].of(file.empty() ? "(unknown file)" : file), operation);
    }
    const Result<std::string> function = values->function(*row.value);
    if (!function) {
      named = function.error();
      return;
    }
    add(sums[1].of(function->empty() ? "(no callstack)" : *function), operation);
    add(sums[2].of(values->process(row.value->pid, row.value->time_ns)), operation);
  });
  if (!read || !named) {
    return read ? named.error() : read.error();
  }
  const auto measure = [order](const ValueSum& sum) {
    return order == IoOrder::kBytes ? sum.bytes : order == IoOrder::kLatency ? sum.ns : sum.count;
  };
  const ValueSums* const sums = has_disk ? of_disk : of_files[1].size() != 0 ? of_files : of_disk;
  IoReport report;
  report.operations = operations.largest(0, measure);
  report.files = sums[0].largest(limit, measure);
  report.functions = sums[1].largest(limit, measure);
  report.processes = sums[2].largest(limit, measure);
  report.all_files = sums[0].size();
  report.all_functions = sums[1].size();
  return report;
}

}  // namespace stackpack::app
