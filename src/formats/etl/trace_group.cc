#include "formats/etl/trace_group.h"

#include "formats/etl/etl_losses.h"

namespace stackpack::etl {

TraceGroup::TraceGroup(const LogFileHeader& base, capture::CallstackSink& sink,
                       scratch::SpillSpace& space)
    : clock_(base),
      clock_type_(base.clock_type),
      kernel_(space, sink.system(), clock_),
      images_(space, sink.system(), clock_, base.pointer_size),
      system_(sink.system()) {}

bool TraceGroup::same_kind_of_clock(const LogFileHeader& header) const {
  const EtlClock clock(header);
  return header.clock_type == clock_type_ && clock.frequency() == clock_.frequency() &&
         clock.frequency_known() && clock_.frequency_known();
}

bool TraceGroup::shares_clock(const LogFileHeader& header) const {
  const EtlClock clock(header);
  if (!same_kind_of_clock(header) || !clock.wall_time_known() || !clock_.wall_time_known()) {
    return false;
  }
  const std::uint64_t by_base = clock_.unix_ns(header.clock_origin);
  const std::uint64_t by_own = clock.unix_ns(header.clock_origin);
  return (by_base > by_own ? by_base - by_own : by_own - by_base) <= kMostApartNs;
}

void TraceGroup::thread_event(const EventView& event) {
  const ThreadFacts thread = kernel_.thread_event(event);
  if (thread.tid == kNoId) {
    return;
  }
  for (ThreadStates* const threads : threads_) {
    threads->at(threads->of(thread.tid, 0)).pid = thread.pid;
  }
}

Status TraceGroup::finish(capture::LossCounters& losses) {
  if (const Status done = images_.finish(); !done) {
    return done;
  }
  methods_.finish(system_);
  const std::uint64_t damaged = kernel_.damaged() + images_.damaged();
  if (damaged != 0) {
    losses.add(loss::kBadSystemEvents, LossKind::kDamage, damaged);
  }
  return {};
}

}  // namespace stackpack::etl
