#pragma once

#include <cstdint>

#include "bytes/byte_cursor.h"
#include "capture/byte_account.h"
#include "capture/callstack_sink.h"
#include "capture/dump_unwinder.h"
#include "capture/read_control.h"
#include "formats/perf/attr_table.h"
#include "formats/perf/record.h"

namespace stackpack::perf {

/// What every stage of reading one capture shares.
struct CaptureContext {
  capture::CallstackSink& sink;
  capture::ReadControl control{};
  bytes::ByteOrder order = bytes::ByteOrder::kLittle;
  AttrTable attrs{};
  capture::ByteAccount account{};
  std::uint64_t bytes_before = 0;  // of the files and parts that are done
  capture::DumpUnwinder* unwinder = nullptr;
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
    if (!record.compressed) {
      const std::uint64_t bytes = kRecordHeaderBytes + record.payload.size();
      account.parsed -= bytes;
      account.skipped.add(reason, bytes);
    }
  }
};

}  // namespace stackpack::perf
