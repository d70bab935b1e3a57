#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spk/format/column_codec.h"
#include "spk/format/layout.h"
#include "spk/format/sample_block.h"
#include "spk/format/stack_predictor.h"
#include "spk/write/value_ranks.h"
#include "stackpack/model.h"

namespace stackpack::spk {

/// Encodes blocks. `samples`: 1 .. kSamplesPerBlock, any values in any order; a block whose times
/// ascend is done faster. Keeps its scratch between calls. Threads: one at a time.
class SampleBlockEncoder {
 public:
  void encode(std::span<const StoredSample> samples, BlockContent& head, BlockContent& body);

 private:
  void split_columns(std::span<const StoredSample> samples);
  void group_samples(std::span<const StoredSample> samples);
  void collect_time_differences(std::uint64_t base);
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

}  // namespace stackpack::spk
