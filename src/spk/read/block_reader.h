#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "codec/zstd_codec.h"
#include "io/byte_source.h"
#include "spk/format/directory.h"
#include "spk/read/page_decoder.h"
#include "spk/read/sample_block_decoder.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// What one call of a reader needs while it works: buffers and decoders, kept for the next call.
struct ReadScratch {
  std::vector<std::byte> stored;
  std::vector<std::byte> content;
  std::uint64_t content_offset = kNoOffset;  // of the block that `content` is of, and
  BlockRecord content_block;                 // its record
  codec::ZstdDecompressor zstd;
  PageDecoder pages;
  SampleBlockDecoder samples;
};

/// Reads blocks from the file, checks and decompresses them.
/// Threads: any number; each call borrows a scratch of its own.
class BlockReader {
 public:
  explicit BlockReader(std::unique_ptr<io::ByteSource> source) : source_(std::move(source)) {}

  /// A scratch that goes back to the reader at the end of its life.
  class Lease {
   public:
    Lease(BlockReader& owner, std::unique_ptr<ReadScratch> scratch)
        : owner_(owner), scratch_(std::move(scratch)) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { owner_.give_back(std::move(scratch_)); }
    ReadScratch& operator*() { return *scratch_; }
    ReadScratch* operator->() { return scratch_.get(); }

   private:
    BlockReader& owner_;
    std::unique_ptr<ReadScratch> scratch_;
  };
  Lease borrow();

  /// The content of the block at `offset`; valid until the scratch is used again.
  /// Errors: kTruncated, kIo, kCorrupt: wrong checksum, sizes that cannot be, damaged frame.
  Result<std::span<const std::byte>> read(std::uint64_t offset, const BlockRecord& block,
                                          ReadScratch& scratch);

  /// The frame itself, checked and not decompressed; valid until the scratch is used again.
  /// Errors: as read(), without those of the frame.
  Result<std::span<const std::byte>> read_stored(std::uint64_t offset, const BlockRecord& block,
                                                 ReadScratch& scratch);

  io::ByteSource& source() { return *source_; }

 private:
  friend class Lease;
  void give_back(std::unique_ptr<ReadScratch> scratch);

  std::unique_ptr<io::ByteSource> source_;
  std::mutex mutex_;
  std::size_t scratches_ = 0;                       // guarded by mutex_, as is idle_
  std::vector<std::unique_ptr<ReadScratch>> idle_;  // has room for all: giving back cannot fail
};

}  // namespace stackpack::spk
