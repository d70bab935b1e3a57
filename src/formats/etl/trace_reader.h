#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "capture/callstack_sink.h"
#include "capture/recent_chains.h"
#include "formats/dotnet/method_payload.h"
#include "formats/dotnet/runtime_values.h"
#include "formats/etl/etl_losses.h"
#include "formats/etl/etl_read_options.h"
#include "formats/etl/etl_sample_writer.h"
#include "formats/etl/event/etl_clock.h"
#include "formats/etl/event/event_header.h"
#include "formats/etl/event/event_kinds.h"
#include "formats/etl/event/event_window.h"
#include "formats/etl/event/events_not_kept.h"
#include "formats/etl/event_rows.h"
#include "formats/etl/file/log_file_header.h"
#include "formats/etl/kernel_values.h"
#include "formats/etl/names/event_payloads.h"
#include "formats/etl/names/event_titles.h"
#include "formats/etl/names/method_events.h"
#include "formats/etl/stacks/extended_stacks.h"
#include "formats/etl/stacks/frame_list.h"
#include "formats/etl/stacks/stack_events.h"
#include "formats/etl/stacks/stack_join.h"
#include "formats/etl/stacks/stack_keys.h"
#include "formats/etl/switch_records.h"
#include "formats/etl/system/thread_states.h"
#include "formats/etl/trace_group.h"
#include "io/byte_source.h"
#include "scratch/spill_space.h"

namespace stackpack::etl {

/// Takes the events of a trace in clock order and hands each to those whom it concerns.
class TraceReader {
 public:
  /// What the reader shares with the readers of other traces; it must outlive them.
  struct Shared {
    TraceGroup& group;  ///< the traces of the same machine
    EventRows& rows;
    capture::RecentChains& recent;
    EventTitles& titles;
    scratch::SpillSpace& space;  ///< for all tables whose size is up to the trace
  };

  /// `header` and `sink` must outlive the reader, which returns the failures of shared.space.
  TraceReader(const LogFileHeader& header, capture::CallstackSink& sink, const Shared& shared,
              const ReadOptions& options);

  Status event(const EventView& event, const EventPlace& place) {
    return space_.status() ? take(event, place) : space_.status();
  }

  /// Whether `event` may be the first of two stack events that are taken together.
  [[nodiscard]] bool may_be_kernel_half(const EventView& event) const {
    return stack_events_.may_be_kernel_half(event);
  }

  /// Where `event`, which may_be_kernel_half(), and `following`, the next one of the same processor
  /// and of all, are halves of one callstack, both are `taken`: the same as event() for each, in
  /// less time. Where not, nothing was done.
  Status halves(const EventView& event, const EventView& following, const EventPlace& place,
                bool& taken);

  /// Names may be read from `trace` until the sink's functions are finished, and need not be kept.
  void read_names_again(io::ByteSource& trace) {
    method_names_ = sink_.system().functions().add_source(
        std::make_unique<dotnet::MethodNames>(trace, losses_, loss::kBadMethodEvents));
  }

  /// Another session or lap begins: its clocks have nothing to do with those before.
  Status next_part();

  /// Events of a processor were lost.
  Status gap(const LossGap& gap, std::uint16_t processor) {
    return switches_.active() ? switches_.gap(gap, processor) : Status();
  }

  /// Hands over what waits to be handed over together, before events of another trace go on.
  Status flush() { return samples_.flush(); }

  /// The end of the trace; that of the group is the caller's.
  Status finish();

  /// Of the payloads of events of which nothing is kept, those that are not compressed.
  [[nodiscard]] std::uint64_t bytes_not_kept() const { return not_kept_.bytes(); }

  /// Replaces `summary` by the totals; those about buffers and about the group's tables are zero.
  void summarize(TraceSummary& summary) const;

 private:
  Status take(const EventView& event, const EventPlace& place);
  Status take_by_role(const EventView& event, const EventPlace& place, EventFacts& facts,
                      const EventUse& use);
  Status profile_event(const EventView& event, const EventPlace& place, EventFacts& facts,
                       EventRole role);
  Status clr_event(const EventView& event, const EventPlace& place, const EventFacts& facts,
                   std::uint8_t runtime, bool stack_walk);
  Status clr_stack(const EventView& event, const EventPlace& place, ThreadNumber thread,
                   std::uint8_t runtime);
  Status remember(const EventFacts& facts, ThreadNumber thread);
  Status forget_oldest();
  Status switch_record(const EventView& event, const EventPlace& place, EventRole role);
  bool context_switch(const EventView& event, const EventPlace& place, EventFacts& facts);
  Status extended_event(const EventView& event, const EventPlace& place, EventFacts& facts);
  void valued_event(const EventView& event, const EventPlace& place, EventFacts& facts,
                    const EventUse& use);
  void method_event(const EventView& event, const EventPlace& place, MethodRole role);
  void table_event(const EventView& event, EventRole role);
  bool is_damaged_kind(const EventView& event, const EventPlace& place, EventRole role);
  void count_recorder_losses();
  void bad_payload(std::string_view counter, const EventPlace& place);

  const LogFileHeader& header_;
  capture::CallstackSink& sink_;
  capture::LossCounters& losses_;
  TraceGroup& group_;
  EventKinds kinds_;
  scratch::SpillSpace& space_;
  ThreadStates threads_;
  EventWindow window_;
  StackKeys keys_;
  SwitchRecords switches_;
  SampleWriter samples_;
  StackJoin join_;
  StackEvents stack_events_;
  ExtendedStacks extended_;
  EventsNotKept not_kept_;
  EventTitles& titles_;
  MethodReader methods_;
  EventPayloads payloads_;
  bool keeps_values_;
  dotnet::RuntimeValues runtime_values_;
  KernelValues kernel_values_;
  std::uint8_t method_names_ = 0;  // NamePlace::source of those that are read again; 0: none are
  TraceSummary counts_;            // only what nobody else counts
  FrameList frames_;
};

}  // namespace stackpack::etl
