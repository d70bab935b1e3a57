#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spk/format/block_index.h"
#include "spk/write/sample_block_pool.h"
#include "spk/write/section_writer.h"
#include "spk/write/stack_count_table.h"
#include "spk/write/writer_options.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Writes the sections samples and sample index, or, without samples, the section stack counts.
class SampleWriter {
 public:
  SampleWriter(SectionWriter& out, const WriterOptions& options)
      : out_(out),
        keep_samples_(options.samples),
        threads_(options.threads),
        counts_(options.scratch_directory, options.count_bytes) {}

  /// Call first, when no other section is open.
  void begin(std::uint64_t stack_count);
  /// Errors: kUsage: a callstack id at or above the stack count; kLimit: what no reader would take,
  /// such as a sample before the one before it.
  Status add(std::span<const StoredSample> samples);
  /// The same for counts of samples. Errors: as add(); kUsage: the file is to have samples.
  Status add_counts(std::span<const StackCount> counts);
  /// Waits until all samples are written. No add() may follow.
  Status flush();
  /// Errors: kUsage: an event of the samples is not below `event_count`.
  Status end(std::uint64_t event_count);

  /// After flush(): how often add() waited for an encoder, and an encoder for samples.
  [[nodiscard]] std::uint64_t waits_for_encoders() const { return waits_for_encoders_; }
  [[nodiscard]] std::uint64_t waits_of_encoders() const { return waits_of_encoders_; }

 private:
  [[nodiscard]] Status check(const StoredSample& sample) const;
  Status write_block(const PackedSampleBlock& block);
  Status write_index();
  Status write_counts();

  SectionWriter& out_;
  bool keep_samples_;
  unsigned threads_;
  std::uint64_t stack_count_ = 0;
  std::uint64_t events_used_ = 0;  // 1 + highest event
  std::uint64_t total_ = 0;
  std::uint64_t last_ns_ = 0;
  std::vector<SampleBlockEntry> entries_;
  StackCountTable counts_;
  BlockContent body_;
  std::uint64_t waits_for_encoders_ = 0;
  std::uint64_t waits_of_encoders_ = 0;
  std::unique_ptr<SampleBlockPool>
      pool_;  // while blocks come; its threads use nothing of the above
};

}  // namespace stackpack::spk
