#include "spk/write/block_compressor.h"

#include <utility>

namespace stackpack::spk {

BlockCompressor::BlockCompressor(int level, bool threaded, Write write)
    : threaded_(threaded), write_(std::move(write)), zstd_(level) {}

BlockCompressor::~BlockCompressor() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
}

void BlockCompressor::compress(Block& block) {
  block.status = zstd_.compress_parts(block.content.parts(), block.frame);
}

void BlockCompressor::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closed_ || compressed_ < submitted_; });
    if (closed_) {
      return;
    }
    Block& block = blocks_[compressed_ % kBlocks];
    lock.unlock();
    compress(block);
    lock.lock();
    ++compressed_;
    changed_.notify_all();
  }
}

Status BlockCompressor::submit() {
  if (!threaded_) {
    compress(blocks_[submitted_ % kBlocks]);
    ++submitted_;
    ++compressed_;
    return write_oldest();
  }
  {
    const std::lock_guard lock(mutex_);
    ++submitted_;
  }
  if (thread_.joinable()) {
    changed_.notify_all();
  } else {
    thread_ = std::thread([this] { run(); });
  }
  return submitted_ - written_ == kBlocks ? write_oldest() : Status{};
}

Status BlockCompressor::flush() {
  if (filling().size() > 0) {
    threaded_ = threaded_ && thread_.joinable();
    if (const Status submitted = submit(); !submitted) {
      return submitted;
    }
  }
  while (written_ < submitted_) {
    if (const Status written = write_oldest(); !written) {
      return written;
    }
  }
  return {};
}

Status BlockCompressor::write_oldest() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return compressed_ > written_; });
  }
  Block& block = blocks_[written_ % kBlocks];
  ++written_;
  const Status written = block.status
                             ? write_(block.frame, static_cast<std::uint32_t>(block.content.size()))
                             : block.status;
  block.content.clear();
  return written;
}

}  // namespace stackpack::spk
