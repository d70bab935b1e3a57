#pragma once

#include <cstdint>

#include "bytes/byte_cursor.h"
#include "capture/branch_recorder.h"
#include "capture/byte_account.h"
#include "capture/callstack_sink.h"
#include "capture/dump_unwinder.h"
#include "capture/read_control.h"
#include "formats/perf/attr_table.h"
#include "formats/perf/jit_mappings.h"
#include "formats/perf/not_kept.h"
#include "formats/perf/perf_losses.h"
#include "formats/perf/record.h"

namespace stackpack::perf {

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
