#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/read/entry_summer.h"
#include "spk/read/sample_head.h"
#include "spk/read/sample_time_order.h"
#include "spk/read/stack_codes.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/sample_cursor.h"

namespace stackpack::spk {

/// Every id in a block must be below these.
struct SampleBounds {
  std::uint64_t stacks = 0;
  std::uint64_t events = 0;
};

/// Decodes bodies of sample blocks column by column: those that are asked for, and those that these
/// need. Keeps its scratch between calls. Threads: one at a time.
class SampleColumnsDecoder {
 public:
  /// Decodes `columns` (a sum of SampleColumn). `ordered`: rows come in the order of the capture,
  /// else in that in which they are stored. Neither `in` nor `head` is looked at afterwards.
  /// Errors: kCorrupt.
  Status decode(bytes::ByteCursor in, const SampleHead& head, const SampleBounds& bounds,
                std::uint32_t columns, bool ordered);

  /// Keeps the rows that match; their times, and for a thread their threads, were decoded.
  void select(const SampleQuery& query);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// The earliest and latest time of the block, when times were decoded.
  [[nodiscard]] std::uint64_t first_ns() const { return grouped_.first; }
  [[nodiscard]] std::uint64_t last_ns() const { return grouped_.last; }

  /// What the column of entries refers to, when it or that of callstacks was asked for, until the
  /// next decode(). Their block is not known here.
  [[nodiscard]] StackEntries stack_entries() const;

  /// As SampleCursor::sum(), of all rows; valid until the next call or decode().
  bool sum(std::uint32_t columns, EntrySums& sums);

  /// Copies rows, which are there, of the columns that `columns` names and decode() was asked for.
  void copy(std::size_t begin, std::size_t rows, std::uint32_t columns,
            const SampleArrays& to) const;

  /// Copies the first samples.size() rows; all columns were decoded.
  void copy(std::span<StoredSample> samples) const;

 private:
  bool decode_groups(bytes::ByteCursor& in);
  bool decode_times(bytes::ByteCursor& in, bool wanted);
  bool decode_order(bytes::ByteCursor& in, bool wanted);
  bool decode_threads(bytes::ByteCursor& in, std::size_t thread_count, bool wanted);
  bool decode_events(bytes::ByteCursor& in, std::uint64_t event_count, std::uint32_t columns);
  bool decode_origins(bytes::ByteCursor& in, std::uint32_t columns);
  bool decode_stacks(bytes::ByteCursor& in, std::uint64_t stack_count, std::size_t thread_count,
                     bool wanted);
  void sort_by_thread(std::size_t thread_count);
  void find_time_range();
  [[nodiscard]] bool is_by_time() const;

  std::size_t count_ = 0;  // samples of the block
  std::size_t rows_ = 0;
  bool stored_order_ = false;   // row i is at stored position i
  bool whole_ = false;          // all rows of a block, with callstacks
  std::uint32_t constant_ = 0;  // columns that have one value in all of the block
  SampleTimeOrder time_order_;
  StackCodes stack_codes_;
  EntrySummer entry_summer_;
  GroupedTimes grouped_;
  std::vector<std::uint64_t> cpus_;
  std::vector<std::uint64_t> numbers_;
  std::vector<std::uint32_t> codes_;
  std::vector<std::uint8_t> stack_code_;
  std::vector<std::size_t> group_begin_;
  std::vector<std::size_t> thread_begin_;
  std::vector<std::uint32_t> stored_;     // per sample, order of the capture: stored position
  std::vector<std::uint32_t> selected_;   // per row: stored position
  std::vector<std::uint32_t> by_thread_;  // per sample, thread by thread: stored position
  // By stored position.
  std::vector<std::uint64_t> times_;
  std::vector<std::uint32_t> thread_of_;
  std::vector<std::uint32_t> cpu_of_;
  std::vector<std::uint32_t> events_;
  std::vector<std::uint64_t> weights_;
  std::vector<std::uint8_t> origins_;
  std::vector<std::uint8_t> flags_;
  std::vector<std::uint32_t> entries_;
  std::vector<std::uint32_t> entry_pids_;  // by entry
  // By thread.
  std::vector<std::uint32_t> pids_;
  std::vector<std::uint32_t> tids_;
};

}  // namespace stackpack::spk
