#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "codec/zstd_codec.h"
#include "core/ordered_pipeline.h"
#include "spk/format/column_codec.h"
#include "spk/write/sample_block_encoder.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// A sample block, ready to be written.
struct PackedSampleBlock {
  std::uint32_t samples = 0;
  std::uint64_t first_ns = 0;  ///< earliest and latest time
  std::uint64_t last_ns = 0;
  std::uint32_t head_bytes = 0;  ///< before compression
  std::uint32_t body_bytes = 0;
  std::vector<std::byte> head;  ///< zstd frames
  std::vector<std::byte> body;
};

/// Encodes and compresses sample blocks on threads of its own; they come out in the order in which
/// they went in, so that the number of threads does not show in a file.
///
/// Columns of samples are near their entropy when zstd gets them: on the reference workload and on
/// recordings, level 9 makes full blocks 0.2 to 0.3 % smaller than level 1, and takes a fifth of
/// the conversion's time for it. So levels up to kThoroughLevel - 1 mean level 1 for full blocks.
/// The last block, which is all there is of a small capture, is packed as asked.
///
/// Threads: filling, submit and flush from one thread. Nothing is locked for a sample, only for a
/// block. Memory: `workers` + 1 blocks and their frames, and per worker the scratch of encoder and
/// zstd.
class SampleBlockPool {
 public:
  using Write = std::function<Status(const PackedSampleBlock&)>;
  static constexpr int kThoroughLevel = 10;

  /// `workers` threads; 0: blocks are encoded by the calling thread.
  SampleBlockPool(int level, unsigned workers, Write write);

  /// The block to fill next. Empty at first and after each submit().
  std::vector<StoredSample>& filling() { return pipeline_.filling().samples; }

  /// Passes filling() on; writes blocks that are done, and waits for the oldest one when all are
  /// under way. Errors: those of encoding and of `write`; the first one stays.
  Status submit();

  /// Passes filling() on, unless it is empty, and writes all blocks.
  Status flush();

  /// Ends the threads; no submit() may follow.
  void stop() { pipeline_.stop(); }

  /// After stop(): how often the calling thread waited for a block, and a worker for work: for
  /// --timings.
  [[nodiscard]] core::TaskLine::Waits waits() const { return pipeline_.waits(); }

 private:
  struct Block {
    std::vector<StoredSample> samples;
    PackedSampleBlock packed;
  };
  struct Worker {
    explicit Worker(int level) : asked_level(level), zstd(level < kThoroughLevel ? 1 : level) {}
    int asked_level;
    SampleBlockEncoder encoder;
    codec::ZstdCompressor zstd;  // for full blocks
    BlockContent content_of_head;
    BlockContent content_of_body;
  };

  static Status pack(Worker& worker, Block& block);

  Write write_;
  std::vector<std::unique_ptr<Worker>> workers_;
  core::OrderedPipeline<Block> pipeline_;  // last: its threads use the workers
};

}  // namespace stackpack::spk
