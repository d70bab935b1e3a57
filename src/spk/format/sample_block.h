// Blocks of 65,536 samples: head and body, one zstd frame each.
//
// The head tells which threads have samples in the block, so that a query for one thread reads the
// heads alone of most blocks. The body has the samples as columns (column_codec.h).
//
// Order. Samples are stored in groups, one per cpu, each in the order of the capture ("stored
// order"). Within a group times ascend in small steps, and one cpu stays with one thread for a
// while; neither is true of neighbours in the capture. The order of the capture comes back by
// merging the groups by time; a column of corrections, nearly always all 0, says where that would
// be wrong.
//
// Head:
//   varint  samples
//   varint  threads
//   column  pid of each thread: difference to the thread before; threads ascend by (pid, tid)
//   column  tid of each thread
// Body:
//   varint  groups
//   column  cpu per group, ascending
//   column  samples per group
//   varint  base time
//   varint  time unit
//   u8      0 or 1: form of the times;  if 1: varint nominal difference
//   column  time per sample, stored order. d = (time - time before in the group) / unit, for the
//   first
//           of a group (time - base time) / unit. Form 0: d, never negative. Form 1: zigzag(d -
//           nominal)
//   column  order per sample, order of the capture: (its group - group with the earliest sample
//           left, the lowest such group) modulo groups
//   column  thread per sample, stored order: 0 = as before in the group, else 1 + thread
//   column  event per sample, stored order
//   column  weight per sample, stored order: zigzag(weight - weight of the event's sample before)
//   column  origin per sample, stored order
//   column  flags per sample, stored order
//   column  callstack code per sample, thread by thread, each in the order of the capture: 0 = no
//           callstack, 1 = a difference, 2 + k = guess k of stack_predictor.h
//   column  per difference, in the order of the codes: zigzag(callstack - latest callstack of the
//           thread, 0 at first)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/column_codec.h"
#include "spk/format/layout.h"
#include "spk/format/stack_predictor.h"
#include "spk/write/value_ranks.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// A thread of a sample block: pid, tid.
using ThreadKey = std::pair<std::uint32_t, std::uint32_t>;

/// Encodes blocks. `samples`: 1 .. kSamplesPerBlock, any values in any order; a block whose times
/// ascend is done faster. Keeps its scratch between calls. Threads: one at a time.
class SampleBlockEncoder {
 public:
  void encode(std::span<const StoredSample> samples, BlockContent& head, BlockContent& body);

 private:
  void take_columns(std::span<const StoredSample> samples);
  void sort_out(std::span<const StoredSample> samples);
  void take_time_differences(std::uint64_t base);
  void encode_head(std::size_t samples, BlockContent& head) const;
  void encode_groups(BlockContent& body) const;
  void encode_times(BlockContent& body);
  void encode_order(BlockContent& body);
  void encode_threads(BlockContent& body);
  void order_of_ascending();
  void order_of_any();
  void encode_weights(BlockContent& body);
  void encode_stacks(BlockContent& body);
  template <typename Value>
  void encode_plain(const std::vector<Value>& values, BlockContent& body);

  // The fields of the samples, each in the order of the capture. The columns are made out of order,
  // and a sample as a whole is most of a cache line.
  std::vector<std::uint64_t> times_;
  std::vector<std::uint64_t> weights_;
  std::vector<StackId> stacks_;
  std::vector<std::uint32_t> event_ids_;
  std::vector<std::uint8_t> origins_;
  std::vector<std::uint8_t> flags_;

  ValueRanks threads_;  // (pid, tid) as one number
  ValueRanks cpus_;     // each is a group
  ValueRanks events_;
  std::vector<std::uint32_t> thread_of_;  // per sample, order of the capture
  std::vector<std::uint32_t> group_of_;   // per sample, order of the capture
  std::vector<std::uint32_t> event_of_;   // per sample, order of the capture
  std::vector<std::uint32_t> stored_;     // per stored position: the sample
  std::vector<std::uint32_t>
      by_thread_;  // samples thread by thread, each in the order of the capture
  std::vector<std::size_t> thread_begin_;  // per thread and one past: position in by_thread_
  std::vector<std::size_t> group_begin_;   // per group and one past: stored position
  StackPredictor predictor_;
  std::vector<std::uint64_t> column_;
  std::vector<std::uint64_t> numbers_;
};

/// The threads of a block, from its head.
struct SampleHead {
  std::uint32_t samples = 0;
  std::vector<ThreadKey> threads;  ///< ascending
};

/// Errors: kCorrupt.
Status decode_sample_head(bytes::ByteCursor in, std::uint32_t samples, SampleHead& head);

/// Decodes bodies. Keeps its scratch between calls. Threads: one at a time.
class SampleBlockDecoder {
 public:
  /// Replaces `samples` by those of the block, in the order of the capture.
  /// `stack_count`, `event_count`: every id in the block must be below.
  /// Errors: kCorrupt.
  Status decode(bytes::ByteCursor in, const SampleHead& head, std::uint64_t stack_count,
                std::uint64_t event_count, std::vector<StoredSample>& samples);

 private:
  bool decode_groups(bytes::ByteCursor& in, std::size_t count);
  bool decode_times(bytes::ByteCursor& in);
  bool decode_order(bytes::ByteCursor& in);
  bool decode_threads(bytes::ByteCursor& in, std::size_t thread_count);
  void sort_by_thread(std::size_t thread_count);
  bool decode_fields(bytes::ByteCursor& in, std::uint64_t event_count);
  bool decode_stacks(bytes::ByteCursor& in, std::uint64_t stack_count);

  std::vector<std::uint64_t> column_;
  std::vector<std::uint64_t> differences_;
  std::vector<std::uint64_t> cpus_;
  std::vector<std::size_t> group_begin_;
  std::vector<std::uint32_t> stored_;     // per sample, order of the capture: stored position
  std::vector<std::uint32_t> thread_of_;  // per stored position
  std::vector<std::uint32_t> by_thread_;  // per sample, thread by thread: stored position
  std::vector<StoredSample> rows_;        // stored order
  StackPredictor predictor_;
};

}  // namespace stackpack::spk
