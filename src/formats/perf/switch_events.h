#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "capture/callstack_sink.h"
#include "capture/stack_view.h"
#include "core/number_table.h"
#include "formats/perf/attr_table.h"
#include "formats/perf/record.h"
#include "formats/perf/record_trailer.h"
#include "formats/perf/sample.h"
#include "formats/perf/task_states.h"
#include "formats/perf/tracepoint_formats.h"
#include "stackpack/result.h"

namespace stackpack::perf {

/// Finds what a capture says of switches and wakings: samples of sched:sched_switch, sched_waking,
/// sched_wakeup, sched_wakeup_new and of context-switches, SWITCH records, LOST records. They go to
/// the sink as records for waits::WaitEngine.
///
/// Times: of one processor they do not go back, in the order of the file; the clock may.
/// Memory: some bytes for each processor, bounded.
class SwitchEvents {
 public:
  explicit SwitchEvents(capture::CallstackSink& sink) : sink_(sink), facts_(sink.wait_facts()) {}

  /// Whether anything is wanted at all.
  [[nodiscard]] bool active() const { return facts_ != nullptr; }

  /// Formats of tracepoints. False: damaged.
  bool read_formats(bytes::ByteCursor tracing_data);

  /// Looks at a sample: the record that it makes, for add(). Once for each sample, in the order of
  /// the file. `number`: of the attribute.
  struct Found {
    capture::SchedRecord record;
    bool has_stack = true;  ///< the callstack of the sample is that of the record
  };
  std::optional<Found> of_sample(std::uint32_t number, const AttrTable::Row& row,
                                 const SampleFields& fields, std::uint64_t record_offset);

  /// Whether the sample that gave this record is dropped, as intervals have all of it.
  [[nodiscard]] bool drops_sample(const capture::SchedRecord& record) const {
    return !facts_->keeps_samples && record.kind != capture::SchedKind::kSeen;
  }

  Status add(const capture::SchedRecord& record, const capture::StackView& stack,
             capture::StackMemo memo) {
    return sink_.add_sched(record, stack, memo);
  }

  /// A record of the kernel that is no sample. `body`: without its trailer.
  Status of_record(const Record& record, bytes::ByteCursor body, const RecordTrailer& trailer);

  /// Records of the perf tool: the table of ids, the end of a round.
  void id_index(bytes::ByteCursor payload);
  void finished_round();

  /// Reports what could not be understood. Once, at the end.
  void finish();

 private:
  enum class Kind : std::uint8_t {
    kUnsorted,
    kOther,
    kSwitch,
    kWaking,
    kWakeup,
    kNewThread,
    kOutStack,
    kNoFormat
  };
  struct Processor {
    std::uint64_t last = 0;   // time of its last record
    std::uint64_t sched = 0;  // the highest time that a record for the engine got
  };

  // What an attribute is, and where the fields of its payload lie.
  struct Tracepoint {
    Kind kind = Kind::kUnsorted;
    TracepointField previous;
    TracepointField state;
    TracepointField next;
    TracepointField woken;
    TracepointField flags;
  };
  // What a state of a thread that leaves says.
  struct Leaving {
    std::uint32_t reason = 0;
    std::uint8_t flags = 0;
  };
  static constexpr std::size_t kMostLeaving = 1024;

  const Tracepoint& tracepoint(std::uint32_t number, const Attr& attr);
  Leaving leaving(std::uint64_t state);
  // Null: the record does not name one, or there is no room for one more.
  Processor* processor(std::uint32_t cpu);
  std::uint64_t steady_time(Processor* known, std::uint64_t time);
  static capture::SchedKind waking_of(Kind kind);
  void see_time(Processor* known, std::uint64_t time);
  [[nodiscard]] bool says_who_runs(const SampleFields& fields) const;
  void fill_gap(const Processor* known, std::uint64_t time, capture::SchedRecord& event) const;
  void fill_switch_record(const Record& record, capture::SchedRecord& event);
  bool fill_switch(const Tracepoint& tracepoint, const SampleFields& fields,
                   capture::SchedRecord& record);
  static bool fill_waking(const Tracepoint& tracepoint, const SampleFields& fields,
                          capture::SchedRecord& record);

  capture::CallstackSink& sink_;
  capture::WaitFacts* facts_;
  TracepointFormats formats_;
  TaskStates states_;
  std::vector<Tracepoint> tracepoints_;  // by attribute
  core::NumberTable<std::uint32_t> processor_numbers_;
  std::vector<Processor> processors_;                   // by number
  std::unordered_map<std::uint64_t, Leaving> leaving_;  // by state
  std::uint64_t order_ = 0;
  std::uint64_t highest_ = 0;
  std::array<std::uint64_t, 2> rounds_{};  // the highest time when the last two rounds ended
  bool uses_samples_ = false;              // some attribute is of switches
  bool has_records_ = false;
  bool has_formats_ = false;  // TRACING_DATA was there
  std::uint64_t steps_back_ = 0;
  std::uint64_t sampled_events_ = 0;
  std::uint64_t bad_ = 0;
  std::uint64_t bad_at_ = 0;
  std::uint64_t without_format_ = 0;
  std::uint64_t without_format_at_ = 0;
};

}  // namespace stackpack::perf
