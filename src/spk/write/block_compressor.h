#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "codec/zstd_codec.h"
#include "core/ordered_pipeline.h"
#include "spk/format/column_codec.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Compresses blocks on a thread of its own, so that the next one can be made meanwhile; they come
/// out in the order in which they went in, and so a file does not show whether there was a thread.
///
/// SampleBlockPool does the same for samples, whose encoding goes to the threads as well. What is
/// compressed here is made in one go from beginning to end.
///
/// Threads: all calls from one. Memory: kBlocks blocks and their frames, and that of zstd.
class BlockCompressor {
 public:
  /// Takes a frame and the bytes of its content; called by submit() and flush().
  using Write = std::function<Status(std::span<const std::byte> frame, std::uint32_t raw_bytes)>;
  static constexpr std::size_t kBlocks = 4;

  /// `threaded` false: the calling thread compresses.
  BlockCompressor(int level, bool threaded, Write write);

  /// The block to fill next. Empty at first and after submit().
  BlockContent& filling() { return pipeline_.filling().content; }

  /// Passes filling() on; writes blocks that are done, and waits for the oldest one when all are
  /// under way. Errors: those of zstd and of `write`; the first one stays.
  Status submit() { return pipeline_.submit(); }

  /// Passes filling() on, unless it is empty, and writes all blocks.
  Status flush();

 private:
  struct Block {
    BlockContent content;
    std::vector<std::byte> frame;
  };

  Write write_;
  codec::ZstdCompressor zstd_;             // of the thread, once there is one
  core::OrderedPipeline<Block> pipeline_;  // last: its thread uses what is above
};

}  // namespace stackpack::spk
