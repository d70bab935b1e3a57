// Threads and processes of events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "bytes/byte_cursor.h"
#include "capture/loss_counters.h"
#include "capture/system_recorder.h"
#include "formats/nettrace/sequence_numbers.h"
#include "formats/nettrace/trace_blocks.h"

namespace stackpack::nettrace {

struct ThreadIdentity {
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
};

/// Gives thread ids of 64 bits numbers of 32 bits: their own if they fit, or else their lower half
/// where that is free.
///
/// Version 6 has rows `u16 size | varint index | {u8 what, value}` (1 name, 2 process, 3 thread, 4
/// a pair of strings) in thread blocks, whose indices events refer to until they are removed.
///
/// Memory: SequenceNumbers::kMostThreads entries each.
class ThreadTable {
 public:
  ThreadTable(const TraceHeader& header, capture::SystemRecorder& system,
              capture::LossCounters& losses)
      : header_(header), system_(system), losses_(losses) {}

  /// Of an event. What is not known is counted, and unknown.
  ThreadIdentity find(std::uint64_t thread, std::uint64_t offset);

  void add_block(const Block& block, SequenceNumbers& numbers);
  void remove_block(const Block& block, SequenceNumbers& numbers);
  void forget() { rows_.clear(); }

 private:
  bool add_row(bytes::ByteCursor row, std::uint64_t offset, SequenceNumbers& numbers);
  std::uint32_t short_id(std::uint64_t thread);
  void introduce(const ThreadIdentity& identity, std::uint64_t thread);

  const TraceHeader& header_;
  capture::SystemRecorder& system_;
  capture::LossCounters& losses_;
  std::unordered_map<std::uint64_t, ThreadIdentity> rows_;  // version 6
  std::unordered_map<std::uint64_t, std::uint32_t> long_ids_;
  std::unordered_set<std::uint64_t> known_;  // pid and tid of threads that the system knows
};

}  // namespace stackpack::nettrace
