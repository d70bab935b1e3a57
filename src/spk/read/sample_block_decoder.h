#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/sample_block.h"
#include "spk/format/stack_predictor.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::spk {

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
  /// In which order samples are wanted: that of the capture, or that in which they are stored,
  /// processor by processor, which costs less.
  enum class Order : std::uint8_t { kCapture, kStored };

  /// Replaces `samples` by those of the block.
  /// `stack_count`, `event_count`: every id in the block must be below.
  /// Errors: kCorrupt.
  Status decode(bytes::ByteCursor in, const SampleHead& head, std::uint64_t stack_count,
                std::uint64_t event_count, Order order, std::vector<StoredSample>& samples);

 private:
  bool decode_groups(bytes::ByteCursor& in, std::size_t count);
  bool decode_times(bytes::ByteCursor& in);
  bool decode_order(bytes::ByteCursor& in);
  bool decode_threads(bytes::ByteCursor& in, std::size_t thread_count);
  void sort_by_thread(std::size_t thread_count);
  bool decode_fields(bytes::ByteCursor& in, std::uint64_t event_count);
  bool decode_origins(bytes::ByteCursor& in);
  bool decode_stacks(bytes::ByteCursor& in, std::uint64_t stack_count);
  [[nodiscard]] StoredSample row(const SampleHead& head, std::size_t at) const;

  std::size_t count_ = 0;  // samples of the block
  std::vector<std::uint64_t> column_;
  std::vector<std::uint64_t> differences_;
  std::vector<std::uint64_t> cpus_;
  std::vector<std::size_t> group_begin_;
  std::vector<std::uint32_t> stored_;     // per sample, order of the capture: stored position
  std::vector<std::uint32_t> thread_of_;  // per stored position
  std::vector<std::uint32_t> by_thread_;  // per sample, thread by thread: stored position
  // Fields in columns by stored position: a pass over one stays within the processor's cache, which
  // one over all samples would not.
  std::vector<std::uint32_t> cpu_of_;
  std::vector<std::uint64_t> times_;
  std::vector<std::uint32_t> events_;
  std::vector<std::uint64_t> weights_;
  std::vector<StackOrigin> origins_;
  std::vector<std::uint8_t> flags_;
  std::vector<StackId> stacks_;
  StackPredictor predictor_;
};

}  // namespace stackpack::spk
