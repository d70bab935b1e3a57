#include "spk/read/sample_blocks.h"

#include <algorithm>

#include "spk/format/layout.h"
#include "spk/read/dag_store.h"

namespace stackpack::spk {

Status SampleBlocks::load() {
  if (loaded_.load(std::memory_order_acquire)) {
    return {};
  }
  const std::lock_guard lock(mutex_);
  if (loaded_.load(std::memory_order_relaxed)) {
    return {};
  }
  index_.clear();
  BlockReader::Lease scratch = blocks_.borrow();
  const Status loaded = load_index(*scratch);
  loaded_.store(loaded.has_value(), std::memory_order_release);
  return loaded;
}

Status SampleBlocks::load_index(ReadScratch& scratch) {
  const SectionRecord* const section = directory_.find(SectionKind::kSamples);
  const SectionRecord* const index = directory_.find(SectionKind::kSampleIndex);
  if (section == nullptr || index == nullptr) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "spk: directory: a required section is missing"};
  }
  std::vector<SampleBlockEntry> entries;
  if (const Status done = for_each_block(blocks_, *index, scratch,
                                         [&](const bytes::ByteCursor& in) -> Status {
                                           if (entries.size() % kSampleBlocksPerIndexBlock != 0 ||
                                               entries.size() >= index->items) {
                                             return in.corrupt("spk: sample index: blocks");
                                           }
                                           return decode_sample_index(in, entries);
                                         });
      !done) {
    return done;
  }
  std::uint64_t offset = section->offset;
  std::uint64_t left = section->stored_bytes;
  std::uint64_t raw = 0;
  std::uint64_t samples = 0;
  for (const SampleBlockEntry& entry : entries) {
    const std::uint64_t stored = std::uint64_t{entry.head.stored_bytes} + entry.body.stored_bytes;
    if (entry.head.stored_bytes == 0 || entry.body.stored_bytes == 0 || stored > left) {
      return Error{ErrorCode::kCorrupt, index->offset, "spk: sample index: sizes"};
    }
    index_.push_back({entry, offset});
    offset += stored;
    left -= stored;
    raw += std::uint64_t{entry.head.raw_bytes} + entry.body.raw_bytes;
    samples += entry.samples;
  }
  if (left != 0 || raw != section->raw_bytes || samples != section->items ||
      entries.size() != index->items || 2 * entries.size() != section->block_count) {
    return Error{ErrorCode::kCorrupt, index->offset, "spk: sample index: sums"};
  }
  return {};
}

Status SampleBlocks::read_head(const Block& block, ReadScratch& scratch, SampleHead& head) {
  const auto content = blocks_.read(block.offset, block.entry.head, scratch);
  if (!content) {
    return content.error();
  }
  return decode_sample_head(bytes::ByteCursor(content.value(), block.offset), block.entry.samples,
                            head);
}

Status SampleBlocks::read_body(const Block& block, const SampleHead& head,
                               const SampleBounds& bounds, SampleBlockDecoder::Order order,
                               ReadScratch& scratch, std::vector<StoredSample>& samples) {
  const std::uint64_t offset = block.offset + block.entry.head.stored_bytes;
  const auto content = blocks_.read(offset, block.entry.body, scratch);
  if (!content) {
    return content.error();
  }
  if (const Status decoded = scratch.samples.decode(bytes::ByteCursor(content.value(), offset),
                                                    head, bounds, order, samples);
      !decoded) {
    Error error = decoded.error();
    error.offset = offset;
    return error;
  }
  const auto [first, last] = std::minmax_element(
      samples.begin(), samples.end(),
      [](const StoredSample& a, const StoredSample& b) { return a.time_ns < b.time_ns; });
  if (first->time_ns != block.entry.from_ns || last->time_ns != block.entry.to_ns) {
    return Error{ErrorCode::kCorrupt, offset, "spk: samples: times are not those of the index"};
  }
  return {};
}

Status SampleBlocks::read_columns(const Block& block, const SampleHead& head,
                                  const SampleBounds& bounds, std::uint32_t columns, bool ordered,
                                  ReadScratch& scratch, SampleColumnsDecoder& decoder) {
  const std::uint64_t offset = block.offset + block.entry.head.stored_bytes;
  const auto content = blocks_.read(offset, block.entry.body, scratch);
  if (!content) {
    return content.error();
  }
  if (const Status decoded = decoder.decode(bytes::ByteCursor(content.value(), offset), head,
                                            bounds, columns, ordered);
      !decoded) {
    Error error = decoded.error();
    error.offset = offset;
    return error;
  }
  if ((columns & kTimeColumn) != 0 &&
      (decoder.first_ns() != block.entry.from_ns || decoder.last_ns() != block.entry.to_ns)) {
    return Error{ErrorCode::kCorrupt, offset, "spk: samples: times are not those of the index"};
  }
  return {};
}

bool has_wanted_thread(const SampleHead& head, const SampleQuery& query) {
  return std::any_of(head.threads.begin(), head.threads.end(), [&query](const ThreadKey& thread) {
    return query.pid.value_or(thread.first) == thread.first &&
           query.tid.value_or(thread.second) == thread.second;
  });
}

bool matches(const StoredSample& sample, const SampleQuery& query) {
  return sample.time_ns >= query.from_ns && sample.time_ns <= query.to_ns &&
         query.pid.value_or(sample.pid) == sample.pid &&
         query.tid.value_or(sample.tid) == sample.tid;
}

}  // namespace stackpack::spk
