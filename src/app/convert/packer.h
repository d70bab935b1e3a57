#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "app/convert/frame_set.h"
#include "app/convert/memory_plan.h"
#include "app/convert/packed_stacks.h"
#include "app/convert/promise_table.h"
#include "app/convert/sample_spool.h"
#include "capture/byte_account.h"
#include "capture/callstack_sink.h"
#include "dag/builder.h"
#include "dag/segment_spill.h"
#include "io/output_file.h"
#include "spk/write/writer.h"
#include "stackpack/model.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"

namespace stackpack::app {

class StackTally;

/// The sink at the end of the capture phase, and the driver of the write phase: interns
/// callstacks, spools samples, collects facts; then freezes, renumbers and writes.
///
/// When the builder has no room left, its DAG becomes a segment on disk and the builder begins
/// anew; in the end the segments are merged. The file is the same as without a limit but for the
/// builder's own figures.
///
/// Use: hand it to a source as its sink, then call write() once.
/// Memory: MemoryPlan tells who gets how much.
class Packer final : public capture::CallstackSink {
 public:
  struct Options {
    std::string scratch_directory = ".";
    std::uint64_t memory_limit = 0;                        ///< 0: none but the machine
    std::atomic<std::uint64_t>* sample_counter = nullptr;  ///< for progress; may be null
    std::function<void(std::string_view)> stage_done;  ///< told what write() has done; may be empty
    std::uint64_t builder_bytes = 0;  ///< for tests: the builder's share; 0: as planned
    std::atomic<std::uint64_t>* written_counter = nullptr;  ///< of samples, in write(); may be null
  };

  explicit Packer(const Options& options);

  std::uint32_t add_event(const Event& event) override;
  void rename_event(std::uint32_t index, std::string_view name) override;
  using capture::CallstackSink::add_sample;
  Status add_sample(const Sample& sample, const capture::StackView& stack,
                    capture::StackMemo memo) override;
  Status add_samples(std::span<const StackedSample> samples) override;
  [[nodiscard]] bool remembers_stacks() const override { return true; }
  capture::PendingStack open_pending() override;
  Status add_pending_sample(const Sample& sample, capture::PendingStack pending,
                            const capture::StackView& fallback) override;
  Status resolve_pending(capture::PendingStack pending, const capture::StackView& stack) override;
  capture::SystemRecorder& system() override { return system_; }
  capture::LossCounters& losses() override { return losses_; }

  /// What is known of the input, for the summary.
  struct Source {
    std::string kind;
    std::uint64_t bytes = 0;
    std::string fingerprint;
    capture::ByteAccount account{};  ///< where the bytes went
  };

  /// Writes everything to `out`, which the caller commits. The statistics are those in the file.
  Result<Statistics> write(io::OutputFile& out, const spk::WriterOptions& options,
                           const Source& source);

  /// After write(): how often samples had to wait for the threads that encode them, and those for
  /// samples.
  [[nodiscard]] spk::Writer::Stalls stalls() const { return stalls_; }

 private:
  Result<NodeRef> intern(const Sample& sample, const capture::StackView& stack);
  Status intern_arrivals();
  Status spool(const Sample& sample, const NodeRef& node, std::uint32_t promise);
  Status close_segment();
  Result<std::unique_ptr<PackedStacks>> pack_stacks();
  Status settle(const SpooledSample& spooled, PackedStacks& stacks, StackTally& tally,
                StoredSample& sample);
  Status collect_frames(const PackedStacks& stacks);
  Status add_functions(const capture::SystemTables& tables, spk::NameWriter& names);
  void report_builder(Statistics& statistics) const;
  void tell_done(std::string_view stage) const;

  Options options_;
  MemoryPlan plan_;
  std::unique_ptr<dag::Builder> builder_;
  std::vector<dag::Builder::Arrival> arrivals_;  // callstacks to intern together
  std::vector<dag::NodeIndex> nodes_;
  std::vector<NodeRef> arrived_;  // where they ended
  std::uint64_t map_bytes_ = 0;   // the most that a builder's map had
  dag::SegmentSpill segments_;
  SampleSpool spool_;
  PromiseTable promises_;
  std::vector<NodeRef> remembered_;  // by the slot of a StackMemo
  std::uint64_t known_frames_ = 0;   // of samples whose callstacks the source knew again
  std::uint64_t raw_frames_ = 0;     // of recorded samples without a promise
  std::vector<Event> events_;
  capture::SystemRecorder system_;
  capture::LossCounters losses_;
  FrameSet frames_;                          // only when the capture names functions
  std::unordered_set<std::uint32_t> pids_;   // of samples
  std::uint32_t last_pid_ = kUnknownId - 1;  // no process has this one
  spk::Writer::Stalls stalls_;
};

}  // namespace stackpack::app
