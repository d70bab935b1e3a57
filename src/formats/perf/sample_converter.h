#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/field_recorder.h"
#include "capture/recent_chains.h"
#include "capture/stack_view.h"
#include "formats/perf/branch_stacks.h"
#include "formats/perf/callchain.h"
#include "formats/perf/capture_context.h"
#include "formats/perf/counter_deltas.h"
#include "formats/perf/deferred_chains.h"
#include "formats/perf/field_tallies.h"
#include "formats/perf/record.h"
#include "formats/perf/sample.h"
#include "formats/perf/switch_events.h"
#include "stackpack/result.h"

namespace stackpack::perf {

/// Turns SAMPLE and CALLCHAIN_DEFERRED records into samples with callstacks, and hands them to the
/// sink. The hot path: nothing is allocated for a sample, apart from those that wait for the user
/// part of their stacks.
///
/// Errors: only those of the sink. A record that cannot be understood is counted and passed over.
class SampleConverter {
 public:
  explicit SampleConverter(CaptureContext& context)
      : context_(context),
        knows_stacks_(context.sink.remembers_stacks()),
        branches_(context.sink),
        recorder_(context.sink.sample_fields()) {}

  Status convert_sample(const Record& record);

  /// Releases the waiting samples of a thread.
  Status convert_deferred(const Record& record);

  /// Releases all waiting samples and reports the totals. Call once, at the end of the capture.
  Status finish();

 private:
  // What a sample has besides its chain, for want of frames in it.
  struct BesideChain {
    bool has_dump = false;
    std::optional<Frame> ip;
    bool is_precise = false;   // the ip is not where the interrupt came
    std::uint64_t offset = 0;  // of the record
  };

  bool notices_unknown_context(const Record& record);
  [[nodiscard]] BesideChain beside_chain(const Record& record, const SampleLayout& layout,
                                         FrameMode mode) const;
  SampleFit read_fields(const Record& record, const SampleLayout& layout);
  void note_fields(const Record& record, const SampleLayout& layout);
  void note_branch_stack();
  void note_control_group(const Record& record);
  void mark(Sample& sample);
  bool unwind(const Record& record, Sample& sample);
  void set_unread(const Record& record);
  bool accept_slack(const Record& record, const SampleLayout& layout);
  bool count_events(const Record& record, const SampleLayout& layout);
  void set_time(const AttrTable::Row& row);
  void note_time(const Record& record, const AttrTable::Row& row);
  std::span<const std::byte> chain_with_ip();
  void begin_at_ip(const BesideChain& beside);
  void count_front(std::uint64_t offset);
  Status give_sched(Sample& sample, capture::StackView stack, capture::StackMemo memo);
  Status give(Sample& sample, const capture::StackView& stack, capture::StackMemo memo);
  Status emit_known(Sample& sample, capture::StackMemo memo);
  void use_branch_stack(const SampleLayout& layout, const SampleFields& fields, FrameMode mode);
  Status hold(const Sample& sample, const Record& record, const SampleLayout& layout,
              const SampleFields& fields);
  Status release(const WaitingSample& waiting, bool merged);
  Status emit(Sample& sample, capture::StackMemo memo, const BesideChain& beside);

  CaptureContext& context_;
  bool knows_stacks_;  // the sink remembers: a known chain need not be decoded
  capture::RecentChains recent_;
  ChainDecoder chain_;
  DeferredChains deferred_;
  SampleFields fields_;
  capture::ThreadDump thread_;
  CounterDeltas deltas_;
  FieldTallies not_kept_;
  BranchStacks branches_;
  capture::FieldRecorder* recorder_;          // null: fields are not kept
  std::optional<FieldRow> kept_;              // those of the sample
  std::optional<SwitchEvents::Found> sched_;  // what the sample says of switches
  std::uint64_t latest_ = 0;                  // time of a sample
  bool counts_ = false;                       // the sample carries counters
  std::vector<CountedEvent> counted_;         // those of the sample that advanced
  std::vector<std::byte> key_;                // of a chain that does not begin at the ip
  std::uint64_t chains_without_ip_ = 0;
  std::uint64_t first_without_ip_offset_ = 0;
  std::uint64_t dumps_without_chain_ = 0;
  std::uint64_t first_dump_offset_ = 0;
  std::uint64_t first_context_offset_ = 0;
  std::uint64_t known_contexts_ = 0;
};

}  // namespace stackpack::perf
