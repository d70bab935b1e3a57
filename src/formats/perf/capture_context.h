#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes/byte_cursor.h"
#include "capture/branch_recorder.h"
#include "capture/byte_account.h"
#include "capture/callstack_sink.h"
#include "capture/dump_unwinder.h"
#include "capture/read_control.h"
#include "formats/perf/attr_table.h"
#include "formats/perf/not_kept.h"
#include "formats/perf/perf_losses.h"
#include "formats/perf/record.h"
#include "stackpack/model.h"

namespace stackpack::perf {

/// Code that a compiler made at run time and described in symbol files, as Android's simpleperf
/// records it: a part of a process' memory under the path of such a file. The symbols of the file
/// have addresses in memory.
class JitMappings {
 public:
  struct Mapping {
    std::uint32_t pid = kUnknownId;
    std::uint64_t base = 0;
    std::uint64_t size = 0;
    std::uint64_t start_ns = kUnknownTime;
  };

  /// Bound of what a hostile input can make us keep.
  static constexpr std::size_t kMaxBytes = std::size_t{16} << 20;

  /// False: there is no room for it.
  bool add(std::string_view path, const Mapping& mapping) {
    const auto known = of_path_.find(path);
    const std::size_t bytes =
        kMappingBytes + (known == of_path_.end() ? path.size() + kPathBytes : 0);
    if (bytes > kMaxBytes - bytes_) {
      return false;
    }
    bytes_ += bytes;
    auto& mappings = known == of_path_.end() ? of_path_[std::string(path)] : known->second;
    mappings.push_back(mapping);
    return true;
  }

  /// Calls `take(mapping)` for each with that path which holds a byte of the code; false when the
  /// path has none at all.
  template <typename Take>
  bool for_each_at(std::string_view path, std::uint64_t start, std::uint64_t size,
                   const Take& take) const {
    const auto found = of_path_.find(path);
    if (found == of_path_.end()) {
      return false;
    }
    for (const Mapping& mapping : found->second) {
      if (start < mapping.base ? mapping.base - start < size
                               : start - mapping.base < mapping.size) {
        take(mapping);
      }
    }
    return true;
  }

 private:
  static constexpr std::size_t kPathBytes = 128;    // of a row, about
  static constexpr std::size_t kMappingBytes = 64;  // twice its size: a vector grows by doubling

  std::map<std::string, std::vector<Mapping>, std::less<>> of_path_;
  std::size_t bytes_ = 0;
};

class NamespaceValues;
class SwitchEvents;
class TracepointValues;

/// What every stage of reading one capture shares.
struct CaptureContext {
  capture::CallstackSink& sink;
  capture::ReadControl control{};
  bytes::ByteOrder order = bytes::ByteOrder::kLittle;
  AttrTable attrs{};
  capture::ByteAccount account{};
  std::uint64_t bytes_before = 0;  // of the files and parts that are done
  JitMappings jit_mappings{};
  RecordTallies records_not_kept{};
  struct {
    std::uint64_t announced = 0;  // by AUX records
    std::uint64_t there = 0;      // after AUXTRACE records
  } trace_bytes{};                // of hardware traces
  capture::DumpUnwinder* unwinder = nullptr;
  SwitchEvents* switches = nullptr;         // null: nobody wants waits
  TracepointValues* tracepoints = nullptr;  // null: nobody wants fields of tracepoints
  NamespaceValues* namespaces = nullptr;    // null: nobody wants values
  std::uint64_t first_sample_ns = kUnknownTime;
  std::uint64_t records = 0;      // so far: the time of a record where none has one
  bool places_are_times = false;  // of the records that were asked for their times
  bool without_samples = false;

  void damage(std::string_view name, std::uint64_t count, std::uint64_t offset) const {
    sink.losses().add(name, LossKind::kDamage, count, offset);
  }
  void notice(std::string_view name, std::uint64_t count, std::uint64_t offset) const {
    sink.losses().add(name, LossKind::kNotice, count, offset);
  }

  /// Counts a record that says nothing sensible: its bytes, counted as parsed before, are skipped.
  void reject(const Record& record, capture::SkipReason reason) {
    damage(name_of(reason), 1, record.offset);
    move_record(record, reason);
  }

  /// The time of the record that is being read, whose own is `recorded_ns`: its place in the
  /// capture where records have no times.
  std::uint64_t time_of_record(std::uint64_t recorded_ns) {
    places_are_times = attrs.without_times();
    return places_are_times ? records : recorded_ns;
  }

  /// Addresses of a process may mean something else from now on.
  void begin_epoch(std::uint32_t pid) const {
    if (capture::BranchRecorder* const branches = sink.branches(); branches != nullptr) {
      branches->begin_epoch(pid);
    }
  }

  /// Counts a record that is understood and not kept.
  void pass_over(const Record& record) {
    records_not_kept.add(record.type, record.offset);
    move_record(record, skip::kRecordsNotKept);
  }

  /// Bytes that were counted as parsed before are skipped.
  void move_parsed(std::uint64_t bytes, capture::SkipReason reason) {
    account.parsed -= bytes;
    account.skipped.add(reason, bytes);
  }
  void move_record(const Record& record, capture::SkipReason reason) {
    if (!record.compressed) {
      move_parsed(kRecordHeaderBytes + record.payload.size(), reason);
    }
  }
};

}  // namespace stackpack::perf
