#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "app/convert/capture_spool.h"
#include "app/convert/frame_set.h"
#include "app/convert/packed_stacks.h"
#include "app/convert/time_rounding.h"
#include "app/convert/wait_pass.h"
#include "capture/byte_account.h"
#include "capture/source_identity.h"
#include "capture/system_recorder.h"
#include "io/output_file.h"
#include "spk/write/writer.h"
#include "spk/write/writer_options.h"
#include "stackpack/model.h"
#include "stackpack/names.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"

namespace stackpack::app {

class StackTally;

/// What an SpkAssembler writes of a merge in place of what the spool knows of a capture.
struct MergedFacts {
  capture::SystemTables tables;
  Names names;
  std::vector<std::uint32_t> pids;  ///< of the file, by those that the spooled samples have
  std::function<Status(spk::BranchWriter&)> add_branches{};  ///< may be empty
  std::vector<std::string> wait_reasons;                     ///< what intervals name
  bool counts = false;  ///< samples are counts: their time is how many there were
};

/// The write phase: makes a .spk file of what a CaptureSpool holds.
///
/// Use: make it when the last sample has come, call write() once. The spool is used up then.
/// Memory: the spool's MemoryPlan says who gets how much.
class SpkAssembler {
 public:
  struct Options {
    int level = spk::WriterOptions{}.level;
    bool samples = true;   ///< false: counts instead, see spk::WriterOptions
    unsigned threads = 0;  ///< besides the calling one; not seen in the file
    std::function<void(std::string_view)> stage_done{};  ///< called with what is done; may be empty
    std::atomic<std::uint64_t>* written_counter = nullptr;  ///< of samples; may be null
    const MergedFacts* merged = nullptr;                    ///< null: this is no merge
    /// Of the times of samples, when they are written and are times; 0 or 1: as they are.
    std::uint64_t time_resolution_ns = 0;
  };

  SpkAssembler(CaptureSpool& capture, Options options);

  /// What is known of the input, for the summary.
  struct Source {
    std::string kind;
    std::uint64_t bytes = 0;
    std::string fingerprint;
    capture::ByteAccount account{};  ///< where the bytes went
    /// What tells the capture from others; unknown of one that changed meanwhile.
    std::optional<capture::SourceIdentity> identity{};
  };

  /// Writes everything to `out`, which the caller commits. The statistics are those in the file.
  Result<Statistics> write(io::OutputFile& out, const Source& source);

  /// After write(): how often samples had to wait for the threads that encode them, and those for
  /// samples.
  [[nodiscard]] spk::Writer::Stalls stalls() const { return stalls_; }

 private:
  [[nodiscard]] spk::WriterOptions writer_options() const;
  Status settle(const SpooledSample& spooled, PackedStacks& stacks, StackTally& tally,
                StoredSample& sample);
  Status settle_merged(std::span<const SpooledSample> rows, PackedStacks& stacks, StackTally& tally,
                       spk::Writer& writer);
  Status write_samples(PackedStacks& stacks, StackTally& tally, spk::Writer& writer);
  Status prepare_rounding();
  Status settle_value(EventValue& row, std::uint16_t segment, PackedStacks& stacks) const;
  Status write_branch_stacks(spk::BranchStackWriter& writer);
  Status write_fields(spk::FieldWriter& writer);
  void place_fields(Sample& sample, std::uint64_t number);
  Status write_values(const capture::SystemTables& tables, PackedStacks& stacks,
                      spk::ValueWriter& writer);
  Status offer_stacks(std::span<const SpooledSample> rows, std::span<const StoredSample> samples);
  Status write_intervals(const capture::SystemTables& tables, IntervalSort& intervals,
                         PackedStacks& stacks, spk::IntervalWriter& writer);
  Status settle_interval(WaitInterval& row, const IntervalRow& spooled, PackedStacks& stacks) const;
  Result<Statistics> finish(spk::Writer& writer, const capture::SystemTables& tables,
                            Statistics statistics, const std::string& fingerprint,
                            IntervalSort& intervals, PackedStacks& stacks);
  Status report_capture(const Source& source, PackedStacks& stacks, StackTally& tally,
                        Statistics& statistics);
  void report_merge(Statistics& statistics) const;
  static void report_source(const Source& source, Statistics& statistics);
  Status collect_frames(const PackedStacks& stacks);
  Status add_functions(const capture::SystemTables& tables, spk::NameWriter& names);
  void count_cut_texts(std::uint64_t count);
  Status add_branches(const capture::SystemTables& tables, spk::BranchWriter& branches);
  void report_stage(std::string_view stage) const;

  CaptureSpool& capture_;
  Options options_;
  FrameSet frames_;                                         // only when the capture names functions
  std::unordered_set<std::uint32_t> pids_;                  // of samples
  std::uint32_t last_pid_ = kUnknownId - 1;                 // no process has this one
  std::vector<std::optional<std::uint8_t>> valued_events_;  // by event; empty without values
  std::uint64_t samples_written_ = 0;
  std::optional<TimeRounding> rounding_;  // while samples are written
  spk::Writer::Stalls stalls_;
};

}  // namespace stackpack::app
