#include "spk/read/block_reader.h"

#include "bytes/hash.h"
#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

// A zstd frame of incompressible content is little larger than the content.
constexpr std::uint64_t largest_frame(std::uint64_t raw_bytes) {
  constexpr std::uint64_t kFrameOverhead = 4'096;
  return raw_bytes + raw_bytes / 64 + kFrameOverhead;
}

// Larger buffers are not kept.
constexpr std::size_t kKeptBytes = std::size_t{4} << 20;

}  // namespace

BlockReader::Lease BlockReader::borrow() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) {
    idle_.reserve(++scratches_);
    return {*this, std::make_unique<ReadScratch>()};
  }
  std::unique_ptr<ReadScratch> scratch = std::move(idle_.back());
  idle_.pop_back();
  return {*this, std::move(scratch)};
}

void BlockReader::give_back(std::unique_ptr<ReadScratch> scratch) {
  if (scratch->content.capacity() + scratch->stored.capacity() > kKeptBytes) {
    scratch->content = {};
    scratch->content_offset = kNoOffset;
    scratch->stored = {};
  }
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(scratch));
}

Result<std::span<const std::byte>> BlockReader::read_stored(std::uint64_t offset,
                                                            const BlockRecord& block,
                                                            ReadScratch& scratch) {
  if (block.raw_bytes > kMaxBlockBytes || block.stored_bytes > largest_frame(block.raw_bytes)) {
    return Error{ErrorCode::kCorrupt, offset, "spk: block size"};
  }
  scratch.stored.resize(block.stored_bytes);
  if (const Status read =
          io::read_exactly_at(*source_, offset, scratch.stored, "spk: file ends inside a block");
      !read) {
    return read.error();
  }
  if (bytes::xxh3_64(scratch.stored) != block.hash) {
    return Error{ErrorCode::kCorrupt, offset, "spk: block checksum"};
  }
  return std::span<const std::byte>(scratch.stored);
}

Result<std::span<const std::byte>> BlockReader::read(std::uint64_t offset, const BlockRecord& block,
                                                     ReadScratch& scratch) {
  if (scratch.content_offset == offset && scratch.content_block == block) {
    return std::span<const std::byte>(scratch.content);
  }
  scratch.content_offset = kNoOffset;
  if (const auto stored = read_stored(offset, block, scratch); !stored) {
    return stored.error();
  }
  scratch.content.resize(block.raw_bytes);
  if (const Status done = scratch.zstd.decompress(scratch.stored, scratch.content); !done) {
    return Error{ErrorCode::kCorrupt, offset,
                 "spk: block is not a zstd frame of the size in the directory"};
  }
  scratch.content_offset = offset;
  scratch.content_block = block;
  return std::span<const std::byte>(scratch.content);
}

}  // namespace stackpack::spk
