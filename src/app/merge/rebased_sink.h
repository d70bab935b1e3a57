// What the inputs of a merge give goes into the spool on a thread of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/convert/capture_spool.h"
#include "capture/stack_view.h"
#include "capture/value_recorder.h"
#include "core/ordered_pipeline.h"
#include "spk/write/stack_count_table.h"
#include "stackpack/model.h"
#include "stackpack/result.h"
#include "stackpack/sample_fields.h"
#include "stackpack/waits.h"

namespace stackpack::app {

/// Samples of a merge that keeps no samples, added up before they go to the spool: as counts per
/// callstack, event, process and origin.
class EntryCounts {
 public:
  EntryCounts(CaptureSpool& spool, std::uint64_t memory_bytes)
      : spool_(spool), memory_bytes_(memory_bytes) {}

  /// `count.stack` is the place of the callstack in the next flush's `nodes`, or kNoStack.
  Status add(const StackCount& count);

  /// Hands over what was added.
  Status flush(std::span<const NodeRef> nodes);

 private:
  CaptureSpool& spool_;
  std::uint64_t memory_bytes_;
  std::unique_ptr<spk::StackCountTable> counts_;
};

/// Takes callstacks and samples whose addresses, processes, events and times are those of the
/// merge.
///
/// Callstacks have entries, dense numbers that the caller gives them; from 0 on again after
/// end_generation(). Samples name them by entry, after add_stack().
/// Order:   the spool sees the calls in their order, so the result is the same as without threads.
/// Threads: the caller's, and one that looks up callstacks and spools samples; nobody else may use
///          the spool until finish(), but for its branch stacks. With threads = 0 all is done in
///          the calls.
/// Errors:  those of the spool come back from one of the next calls, or from finish(); Error::part
///          is kOutputPart. Nothing is spooled after one.
/// Memory:  kBatches batches of some 2 MiB, 8 bytes for each callstack of a generation, and what
///          EntryCounts takes.
class RebasedSink {
 public:
  static constexpr std::uint32_t kNoEntry = ~std::uint32_t{0};

  RebasedSink(CaptureSpool& spool, unsigned threads);

  Status add_stack(std::uint32_t entry, std::span<const Frame> leaf_first);
  /// `entry` kNoEntry: no callstack. `rank`: of the source. The sample stands for `times` samples.
  Status add_sample(const Sample& sample, std::uint32_t entry, std::uint32_t rank,
                    std::uint64_t times);
  /// The same of one sample with fields, of a spool that keeps them.
  Status add_sample(const Sample& sample, std::uint32_t entry, std::uint32_t rank,
                    const FieldRow& fields);
  /// Adds samples that are kept as counts. `count.stack` is an entry, or kNoStack.
  Status add_count(const StackCount& count);
  /// Adds an interval; its callstacks are entries, or kNoEntry.
  Status add_interval(const WaitInterval& interval, std::uint32_t rank);
  /// Adds a value of an event. Its texts are numbers of the spool's recorder.
  Status add_value(const capture::RecordedValue& value, std::uint32_t entry, std::uint32_t rank);
  /// Forgets all callstacks.
  Status end_generation();
  /// Waits until all is spooled. After an error of the caller's own, too: an error that comes back
  /// is of something before that.
  Status finish();

 private:
  static constexpr std::size_t kBatches = 4;
  static constexpr std::size_t kSamplesTogether = std::size_t{1} << 14;
  static constexpr std::size_t kAddressesTogether = std::size_t{1} << 17;

  struct Extent {
    std::size_t addresses = 0;  // ends
    std::size_t runs = 0;
  };
  struct EntrySample {
    Sample sample;
    std::uint32_t entry = kNoEntry;
    std::uint32_t rank = 0;
    std::uint64_t times = 1;
  };
  struct EntryInterval {
    WaitInterval interval;
    std::uint32_t rank = 0;
  };
  struct EntryValue {
    capture::RecordedValue value;
    std::uint32_t entry = kNoEntry;
    std::uint32_t rank = 0;
  };
  /// Callstacks, then samples, counts, intervals and values, then the end of the generation or not.
  struct Batch {
    std::vector<std::uint64_t> addresses;
    std::vector<capture::ModeRun> runs;
    std::vector<Extent> extents;
    std::vector<std::uint32_t> entries;  // by callstack
    std::vector<EntrySample> samples;
    std::vector<FieldRow> fields;  // of the samples that are marked
    std::vector<StackCount> counts;
    std::vector<EntryInterval> intervals;
    std::vector<EntryValue> values;
    bool ends_generation = false;
  };

  Status send();
  Status deliver(Batch& batch);
  Status intern(const Batch& batch);
  Status spool_samples(const Batch& batch);
  [[nodiscard]] NodeRef node_of(std::uint32_t entry) const {
    return entry == kNoEntry ? NodeRef{} : nodes_[entry];
  }

  CaptureSpool& spool_;
  // Of the thread that delivers.
  EntryCounts counts_;
  std::vector<NodeRef> nodes_;  // by entry
  std::vector<dag::Builder::Arrival> arrivals_;
  std::vector<NodeRef> interned_;
  core::OrderedPipeline<Batch> pipeline_;  // last: its thread uses what is above
};

}  // namespace stackpack::app
