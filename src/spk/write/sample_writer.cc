#include "spk/write/sample_writer.h"

#include <algorithm>

#include "core/fetch_ahead.h"
#include "spk/format/layout.h"
#include "spk/format/table_codec.h"
#include "spk/format/table_rules.h"

namespace stackpack::spk {

void SampleWriter::begin(std::uint64_t stack_count) {
  stack_count_ = stack_count;
  out_.begin_section(keep_samples_ ? SectionKind::kSamples : SectionKind::kStackCounts);
  if (keep_samples_) {
    pool_ = std::make_unique<SampleBlockPool>(
        out_.level(), threads_,
        [this](const PackedSampleBlock& block) { return write_block(block); });
  }
}

// Counts have neither times nor flags.
Status SampleWriter::check(const StoredSample& sample) const {
  if (sample.stack >= stack_count_ && sample.stack != kNoStack) {
    return Error{ErrorCode::kUsage, kNoOffset, "spk: writer: sample of an unknown callstack"};
  }
  if (!fits_callstack(sample.origin, sample.stack)) {
    return Error{ErrorCode::kLimit, kNoOffset,
                 "spk: sample whose origin does not fit its callstack"};
  }
  if (keep_samples_ && sample.time_ns < last_ns_) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: samples are not in order of time"};
  }
  return !keep_samples_ || (sample.flags & kUnwoundFlag) == 0
             ? Status{}
             : Status{Error{ErrorCode::kLimit, kNoOffset, "spk: sample with an unknown flag"}};
}

Status SampleWriter::add(std::span<const StoredSample> samples) {
  for (const StoredSample& sample : samples) {
    if (const Status rules = check(sample); !rules) {
      return rules;
    }
    last_ns_ = sample.time_ns;
    events_used_ = std::max(events_used_, std::uint64_t{sample.event} + 1);
    ++total_;
    if (!keep_samples_) {
      if (const Status counted = counts_.add(sample); !counted) {
        return counted;
      }
      continue;
    }
    std::vector<StoredSample>& block = pool_->filling();
    core::fetch_ahead(block);
    block.push_back(sample);
    if (block.size() == kSamplesPerBlock) {
      if (const Status submitted = pool_->submit(); !submitted) {
        return submitted;
      }
    }
  }
  return {};
}

Status SampleWriter::add_counts(std::span<const StackCount> counts) {
  if (keep_samples_) {
    return Error{ErrorCode::kUsage, kNoOffset, "spk: writer: counts in place of samples"};
  }
  for (const StackCount& count : counts) {
    if (count.stack >= stack_count_ && count.stack != kNoStack) {
      return Error{ErrorCode::kUsage, kNoOffset, "spk: writer: count of an unknown callstack"};
    }
    if (count.samples == 0 || !fits_callstack(count.origin, count.stack)) {
      return Error{ErrorCode::kLimit, kNoOffset, "spk: count of no samples, or of another origin"};
    }
    events_used_ = std::max(events_used_, std::uint64_t{count.event} + 1);
    total_ += count.samples;
    if (const Status counted = counts_.add(count); !counted) {
      return counted;
    }
  }
  return {};
}

Status SampleWriter::write_block(const PackedSampleBlock& block) {
  const auto head = out_.add_frame(block.head, block.head_bytes);
  if (!head) {
    return head.error();
  }
  const auto body = out_.add_frame(block.body, block.body_bytes);
  if (!body) {
    return body.error();
  }
  entries_.push_back({head.value(), body.value(), block.samples, block.first_ns, block.last_ns});
  return {};
}

Status SampleWriter::flush() {
  if (pool_ == nullptr) {
    return {};
  }
  const Status flushed = pool_->flush();
  pool_->stop();
  waits_for_encoders_ = pool_->waits().owner;
  waits_of_encoders_ = pool_->waits().workers;
  pool_.reset();
  return flushed;
}

Status SampleWriter::end(std::uint64_t event_count) {
  if (events_used_ > event_count) {
    return Error{ErrorCode::kUsage, kNoOffset, "spk: writer: sample of an unknown event"};
  }
  if (!keep_samples_) {
    return write_counts();
  }
  if (const Status flushed = flush(); !flushed) {
    return flushed;
  }
  out_.end_section(total_);
  return write_index();
}

Status SampleWriter::write_index() {
  out_.begin_section(SectionKind::kSampleIndex);
  const std::span<const SampleBlockEntry> entries(entries_);
  for (std::size_t begin = 0; begin < entries.size(); begin += kSampleBlocksPerIndexBlock) {
    body_.clear();
    encode_sample_index(entries.subspan(begin, std::min<std::size_t>(kSampleBlocksPerIndexBlock,
                                                                     entries.size() - begin)),
                        body_);
    if (const auto record = out_.add_block(body_); !record) {
      return record.error();
    }
  }
  out_.end_section(entries.size());
  return {};
}

Status SampleWriter::write_counts() {
  std::uint64_t rows = 0;
  const Status written =
      counts_.for_each_block(kStackCountsPerBlock, [&](std::span<const StackCount> block) {
        rows += block.size();
        body_.clear();
        encode_rows(block, body_);
        const auto record = out_.add_block(body_);
        return record ? Status{} : Status(record.error());
      });
  if (written) {
    out_.end_section(rows);
  }
  return written;
}

}  // namespace stackpack::spk
