#include "spk/write/sample_block_pool.h"

#include <algorithm>
#include <utility>

#include "spk/format/layout.h"

namespace stackpack::spk {

SampleBlockPool::SampleBlockPool(int level, unsigned workers, Write write)
    : write_(std::move(write)), filling_(std::make_unique<Block>()) {
  workers_.push_back(std::make_unique<Worker>(level));
  while (workers_.size() < workers) {
    workers_.push_back(std::make_unique<Worker>(level));
  }
  for (unsigned i = 0; i < workers; ++i) {
    free_.push_back(std::make_unique<Block>());
  }
  for (unsigned i = 0; i < workers; ++i) {
    threads_.emplace_back([this, i] { run(*workers_[i]); });
  }
}

SampleBlockPool::~SampleBlockPool() {
  stop();
}

void SampleBlockPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    waiting_.clear();
  }
  work_came_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

Status SampleBlockPool::pack(Worker& worker, Block& block) {
  PackedSampleBlock& packed = block.packed;
  const auto [first, last] =
      std::minmax_element(block.samples.begin(), block.samples.end(),
                          [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  packed.samples = static_cast<std::uint32_t>(block.samples.size());
  packed.first_ns = first->time_ns;
  packed.last_ns = last->time_ns;
  BlockContent& head = worker.content_of_head;
  BlockContent& body = worker.content_of_body;
  head.clear();
  body.clear();
  worker.encoder.encode(block.samples, head, body);
  if (std::max(head.size(), body.size()) > kMaxBlockBytes) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: a row is too long for a block"};
  }
  packed.head_bytes = static_cast<std::uint32_t>(head.size());
  packed.body_bytes = static_cast<std::uint32_t>(body.size());
  const auto compress = [&](codec::ZstdCompressor& zstd) {
    const Status done = zstd.compress_parts(head.parts(), packed.head);
    return done ? zstd.compress_parts(body.parts(), packed.body) : done;
  };
  if (block.samples.size() == kSamplesPerBlock) {
    return compress(worker.zstd);
  }
  codec::ZstdCompressor as_asked(worker.asked_level);
  return compress(as_asked);
}

void SampleBlockPool::run(Worker& worker) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (waiting_.empty() && !closed_) {
      ++waits_for_work_;
      work_came_.wait(lock, [this] { return !waiting_.empty() || closed_; });
    }
    if (waiting_.empty()) {
      return;
    }
    Block& block = *waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    block.status = pack(worker, block);
    lock.lock();
    block.done = true;
    block_done_.notify_one();
  }
}

Status SampleBlockPool::submit() {
  if (filling_->samples.empty()) {
    return {};
  }
  if (threads_.empty()) {
    if (const Status packed = pack(*workers_.front(), *filling_); !packed) {
      return packed;
    }
    filling_->samples.clear();
    return write_(filling_->packed);
  }
  filling_->done = false;
  under_way_.push_back(std::move(filling_));
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(under_way_.back().get());
  }
  work_came_.notify_one();
  Status written;
  if (free_.empty()) {
    written = write_oldest();
  }
  filling_ = std::move(free_.back());
  free_.pop_back();
  return written;
}

Status SampleBlockPool::write_oldest() {
  {
    std::unique_lock lock(mutex_);
    Block& oldest = *under_way_.front();
    if (!oldest.done) {
      ++waits_for_workers_;
      block_done_.wait(lock, [&oldest] { return oldest.done; });
    }
  }
  std::unique_ptr<Block> block = std::move(under_way_.front());
  under_way_.pop_front();
  const Status written = block->status ? write_(block->packed) : block->status;
  block->samples.clear();
  free_.push_back(std::move(block));
  return written;
}

Status SampleBlockPool::flush() {
  if (const Status submitted = submit(); !submitted) {
    return submitted;
  }
  while (!under_way_.empty()) {
    if (const Status written = write_oldest(); !written) {
      return written;
    }
  }
  return {};
}

}  // namespace stackpack::spk
