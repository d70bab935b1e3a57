#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "codec/zstd_codec.h"
#include "spk/format/column_codec.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Compresses blocks on a thread of its own, so that the next one can be made meanwhile; they come
/// out in the order in which they went in, and so a file does not show whether there was a thread.
///
/// SampleBlockPool does the same for samples, whose encoding goes to the threads as well. What is
/// compressed here is made in one go from beginning to end.
///
/// Threads: all calls from one. It begins with the first submit(): a last block without one before
/// it is compressed by flush() itself. Memory: kBlocks blocks and their frames, and that of zstd.
class BlockCompressor {
 public:
  /// Takes a frame and the bytes of its content; called by submit() and flush().
  using Write = std::function<Status(std::span<const std::byte> frame, std::uint32_t raw_bytes)>;
  static constexpr std::size_t kBlocks = 4;

  /// `threaded` false: the calling thread compresses.
  BlockCompressor(int level, bool threaded, Write write);
  BlockCompressor(const BlockCompressor&) = delete;
  BlockCompressor& operator=(const BlockCompressor&) = delete;
  ~BlockCompressor();

  /// The block to fill next. Empty at first and after submit().
  BlockContent& filling() { return blocks_[submitted_ % kBlocks].content; }

  /// Passes filling() on; writes the oldest block, and waits for it, when all are under way.
  /// Errors: those of zstd and of `write`.
  Status submit();

  /// Passes filling() on, unless it is empty, and writes all blocks.
  Status flush();

 private:
  struct Block {
    BlockContent content;
    std::vector<std::byte> frame;
    Status status;
  };

  void compress(Block& block);
  void run();
  Status write_oldest();

  bool threaded_;
  Write write_;
  codec::ZstdCompressor zstd_;  // of the thread, once there is one
  std::array<Block, kBlocks> blocks_;
  std::uint64_t written_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t submitted_ = 0;   // changed under mutex_, by the calling thread alone
  std::uint64_t compressed_ = 0;  // guarded by mutex_
  bool closed_ = false;           // guarded by mutex_
  std::thread thread_;            // last: it uses everything above
};

}  // namespace stackpack::spk
