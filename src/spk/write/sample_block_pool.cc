#include "spk/write/sample_block_pool.h"

#include <algorithm>
#include <utility>

#include "spk/format/layout.h"

namespace stackpack::spk {

SampleBlockPool::SampleBlockPool(int level, unsigned workers, Write write)
    : write_(std::move(write)),
      pipeline_(
          workers, std::size_t{workers} + 1,
          [this](unsigned worker, Block& block) { return pack(*workers_[worker], block); },
          [this](Block& block) {
            block.samples.clear();
            return write_(block.packed);
          }) {
  workers_.push_back(std::make_unique<Worker>(level));
  while (workers_.size() < workers) {
    workers_.push_back(std::make_unique<Worker>(level));
  }
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

Status SampleBlockPool::submit() {
  return filling().empty() ? Status{} : pipeline_.submit();
}

Status SampleBlockPool::flush() {
  return filling().empty() ? pipeline_.drain() : pipeline_.finish();
}

}  // namespace stackpack::spk
