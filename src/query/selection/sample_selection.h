#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "capture/life_index.h"
#include "core/index_table.h"
#include "query/selection/capture_view.h"
#include "query/selection/event_choice.h"
#include "query/selection/known_threads.h"
#include "query/selection/label_choice.h"
#include "query/selection/module_filter.h"
#include "stackpack/export.h"
#include "symbols/symbol_index.h"

namespace stackpack::query {

using capture::kNoRow;
using symbols::MappingContext;

/// One life of a thread within one life of its process, and perhaps what samples are labelled with:
/// what labels of exports are made of.
struct Track {
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::uint32_t process = kNoRow;  ///< row of the process table
  std::uint32_t thread = kNoRow;   ///< row of the thread table
  /// Row of CaptureView::label_sets, where SelectionRules::labels asks for it.
  std::uint32_t label_set = kNoRow;

  friend bool operator==(const Track&, const Track&) = default;
};

/// A sample that passed the filters. It stands for `count` samples with `weight` in all: one, but
/// in files which keep no single samples.
struct SelectedSample : StoredSample {
  std::uint64_t count = 1;
  std::uint32_t track = 0;
  std::uint32_t context = 0;
  // Where SelectionRules::numbers asks for them.
  std::uint32_t control_group = kNoRow;  ///< row of CaptureView::control_groups
  std::uint32_t label_set = kNoRow;      ///< row of CaptureView::label_sets
  std::uint64_t number = 0;  ///< among all samples of the file, as those with fields are numbered
};

/// What sums need of a sample that passed the filters.
struct SummedSample {
  std::uint64_t time_ns = 0;
  std::uint64_t weight = 0;
  std::uint64_t count = 1;  ///< as of SelectedSample
  StackId stack = kNoStack;
  std::uint32_t context = 0;
  std::uint32_t event = 0;  ///< the row that stands for all that count the same
  std::uint32_t track = 0;
};

/// What a pass over sums asks for besides; what it does not ask for may be missing in its samples.
struct SummedFields {
  bool weight = true;   ///< false: 0
  bool stack = true;    ///< false: kNoStack
  bool track = true;    ///< false: 0, and threads that are new get no numbers
  bool by_time = true;  ///< false: in an order of the file's own, which costs a little less
  /// Samples of a block of the file that differ in nothing but their times and weights may come as
  /// one, where and with the time of the first of them. Its count and weight are their sums.
  bool merged = false;
  bool equal_weights = false;  ///< of `merged`: only if their weights do not differ either
  /// Of `merged`: ascending times; a sample before one and a sample at it do not become one.
  std::span<const std::uint64_t> bounds{};
};

/// Whether the callstack of a sample is known not to reach its root: a part is missing, or the dump
/// that it should be made of was not unwound.
constexpr bool lacks_root(StackOrigin origin, std::uint8_t flags) {
  return (flags & kSampleIncomplete) != 0 ||
         (!has_chain(origin) && (flags & kSampleStackDump) != 0);
}

/// How many samples passed the filters.
struct SampleCounts {
  std::uint64_t samples = 0;
  std::uint64_t without_callstack = 0;
  std::uint64_t ip_only = 0;
  std::uint64_t unwound = 0;
  std::uint64_t incomplete = 0;    ///< a part of the callstack is known to be missing
  std::uint64_t without_root = 0;  ///< lacks_root()
  std::vector<std::uint64_t> of_track;
};

/// Times of the first and the last sample selected.
struct TimeRange {
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
};

/// The samples that an export is about, as often as it wants to see them.
///
/// Tracks and contexts are numbered densely in the order in which they first turn up; the numbers
/// stay the same from pass to pass.
/// Memory: 24 to 32 bytes for each track that occurs, contexts, what is known of 65,536 threads
/// (for
///         each of the threads that read, too), and some blocks of samples: one in for_each(); as
///         visit_samples_in_parts() in for_each_summed(), and up to 2.6 MB for each of the places.
class SampleSelection {
 public:
  /// Errors: kUsage when options ask for what the capture cannot have.
  static Result<std::unique_ptr<SampleSelection>> create(const CaptureView& view,
                                                         const ExportOptions& options,
                                                         const SelectionRules& rules = {});

  /// The samples in time order, in blocks. An error from `visit` ends the pass.
  /// Errors: those of the reader, of `visit`; kCorrupt when a sample names what is not there.
  Status for_each(const std::function<Status(std::span<const SelectedSample>)>& visit);
  /// The same samples with less of each, which costs half as much: only the columns that are asked
  /// for are decoded. Samples are chosen on as many threads as there are processors; `visit` is
  /// called on this one.
  Status for_each_summed(const SummedFields& fields,
                         const std::function<Status(std::span<const SummedSample>)>& visit);

  /// Counts the same samples, with as many threads as for_each_summed() where the file has single
  /// samples and neither modules nor control groups are chosen. Errors: as for_each().
  Result<SampleCounts> count_samples();

  [[nodiscard]] const std::vector<Track>& tracks() const { return tracks_; }
  [[nodiscard]] const std::vector<MappingContext>& contexts() const { return contexts_; }
  [[nodiscard]] const CaptureView& view() const { return view_; }

  /// What addresses are called, by the tables of the view.
  [[nodiscard]] const symbols::SymbolIndex& symbols() const { return symbols_; }

  /// Name of the process, or empty.
  [[nodiscard]] std::string_view process_name(const Track& track) const;
  /// Name of the thread; that of the process when the thread has none of its own.
  [[nodiscard]] std::string_view thread_name(const Track& track) const;

  /// Time of the first sample of the capture, selected or not.
  [[nodiscard]] std::uint64_t start_ns() const { return start_ns_; }

  /// Of the samples which the passes so far have shown.
  [[nodiscard]] TimeRange time_range() const { return range_; }

  /// Where something of a thread happened that is no sample: what its addresses mean, if the
  /// filters by process, thread and time let it through.
  std::optional<std::uint32_t> context_at(std::uint32_t pid, std::uint32_t tid,
                                          std::uint64_t time_ns);

  /// The same of any thread and time.
  std::uint32_t context_of(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns);

  /// Nanoseconds since 1970 at a time of the capture's clock, when the capture has the date.
  [[nodiscard]] std::optional<std::uint64_t> wall_ns(std::uint64_t time_ns) const;

  /// What a sample counts for under the options.
  [[nodiscard]] std::uint64_t value_of(const SelectedSample& sample) const {
    return choice_.weighted(sample.event) ? sample.weight : sample.count;
  }
  [[nodiscard]] std::uint64_t value_of(const SummedSample& sample) const {
    return choice_.weighted(sample.event) ? sample.weight : sample.count;
  }
  /// Of a group of samples whose key has the event where samples have weights.
  template <typename Group>
  [[nodiscard]] std::uint64_t value_of_group(const Group& group) const {
    return choice_.weighted(group.key.event) ? group.weight : group.count;
  }
  /// Which events it is about, and what samples of each count for.
  [[nodiscard]] const EventChoice& choice() const { return choice_; }

  /// Of the latest pass that reached its end.
  [[nodiscard]] const IdleLeftOut& idle_left_out() const { return idle_; }

  /// True for an imported profile: one sample stands for as many as its weight says.
  [[nodiscard]] bool aggregated() const { return view_.aggregated(); }

  /// Goes on to the next event that could be chosen, since the filters leave no sample of this one.
  /// False when there is none, or when idle threads alone have this one.
  bool choose_next_event() { return idle_.samples == 0 && choice_.choose_next(); }

 private:
  // All that the meaning of an address depends on, and any time for which it is so.
  struct ContextKey {
    std::uint32_t pid = kUnknownId;
    std::uint64_t own = 0;     // epochs
    std::uint64_t shared = 0;  // of the kernel
    std::uint64_t time_ns = 0;
  };
  // What is found of a thread at a time, and from when until when that holds.
  struct ThreadFound {
    Track track;
    ContextKey context;
    std::uint64_t valid_from = 0;
    std::uint64_t valid_until = 0;
    bool wanted = false;
  };
  // What is known of a thread in the time from valid_from on.
  struct ThreadState {
    std::uint64_t valid_from = 1;
    std::uint64_t valid_until = 0;
    std::uint32_t track = 0;
    std::uint32_t context = 0;
    bool wanted = false;
  };

  SampleSelection(const CaptureView& view, const ExportOptions& options, EventChoice choice,
                  bool leaves_idle_out);
  Status find_start();
  Status check_counts() const;
  Status choose_times();
  void begin_pass();
  void end_pass();
  void note_idle(const StoredSample& sample);
  // Row: SelectedSample or SummedSample.
  template <typename Row>
  Status drop_unwanted(std::vector<Row>& block);
  template <typename Row>
  void drop_idle(std::vector<Row>& block);
  template <typename Row>
  Status pass_on(std::vector<Row>& block, const std::function<Status(std::span<const Row>)>& visit);
  Status for_each_count(const std::function<Status(std::span<const SelectedSample>)>& visit);
  Status for_each_sample(const std::function<Status(std::span<const SelectedSample>)>& visit);
  Status sum_samples(const std::function<Status(std::span<const SummedSample>)>& visit);
  void want_control_groups();
  Status want_labels();
  [[nodiscard]] bool is_queried(const StoredSample& sample) const;
  class FieldsOfPass;
  Status for_each_in_columns(const SampleScan& scan,
                             const std::function<Status(std::span<const SummedSample>)>& visit);
  Status sum_counts(const std::function<Status(std::span<const SummedSample>)>& visit);
  [[nodiscard]] std::uint32_t columns_of_filter() const;
  [[nodiscard]] bool is_in_file(const StoredSample& sample) const;
  const ThreadState& state_of(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns);
  void refresh(ThreadState& state, std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns);
  [[nodiscard]] ThreadFound find_thread(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns,
                                        std::uint64_t earliest_ns) const;
  std::uint32_t number_of(const Track& track);
  std::uint32_t labelled(std::uint32_t track, std::uint32_t label_set);
  std::uint32_t number_of(const ContextKey& context);
  class PartOfPass;    // what a block of samples comes to
  class PassOfThread;  // what chooses samples on one thread
  [[nodiscard]] bool reads_in_parts() const;
  [[nodiscard]] SampleScan scan_of(const SummedFields& fields) const;
  // `counts`: samples are counted there, and not visited.
  Status for_each_in_parts(const SampleScan& scan, const SummedFields& fields,
                           const std::function<Status(std::span<const SummedSample>)>& visit,
                           SampleCounts* counts = nullptr);
  Status take_part(PartOfPass& part,
                   const std::function<Status(std::span<const SummedSample>)>& visit,
                   SampleCounts* counts);
  [[nodiscard]] std::uint64_t valid_until(std::uint32_t pid, std::uint32_t tid,
                                          std::uint64_t time_ns) const;
  // What is known of the sample's thread; nothing when the sample is not wanted.
  const ThreadState* select(const StoredSample& sample);

  const CaptureView& view_;
  const ExportOptions& options_;
  capture::ProcessLives process_lives_;
  capture::ThreadLives thread_lives_;
  symbols::SymbolIndex symbols_;
  SampleQuery query_;
  std::uint64_t start_ns_ = 0;
  bool range_known_ = false;
  TimeRange range_;
  EventChoice choice_;
  bool leaves_idle_out_ = false;
  IdleLeftOut idle_;
  // Of the pass that goes on: which samples of the block are idle, where they are to be left out;
  // what was left out, and what was not.
  std::vector<std::uint8_t> is_idle_;
  std::uint64_t idle_samples_ = 0;
  double idle_value_ = 0;
  double kept_value_ = 0;
  ModuleFilter module_filter_;
  bool numbers_ = false;
  bool splits_by_labels_ = false;          // tracks
  std::vector<bool> wants_control_group_;  // by row; empty: any
  LabelFilter label_filter_;
  std::vector<Track> tracks_;
  core::IndexTable track_numbers_;
  std::vector<MappingContext> contexts_;
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>, std::uint32_t> context_numbers_;
  KnownThreads<ThreadState> states_;
  std::uint64_t earliest_ns_ = 0;  // of the samples that are being read
};

}  // namespace stackpack::query
