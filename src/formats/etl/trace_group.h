#pragma once

#include <cstdint>
#include <vector>

#include "capture/callstack_sink.h"
#include "formats/dotnet/method_modules.h"
#include "formats/etl/event/etl_clock.h"
#include "formats/etl/file/log_file_header.h"
#include "formats/etl/system/image_tables.h"
#include "formats/etl/system/kernel_tables.h"
#include "formats/etl/system/thread_states.h"
#include "scratch/spill_space.h"
#include "stackpack/result.h"

namespace stackpack::etl {

/// What the traces of one machine and boot have in common: the clock that all of them count, and
/// the tables of processes, threads and images, which one trace describes for the others.
///
/// Every trace pairs its first clock value with the wall time, and the wall time ticks in
/// milliseconds at best. So the pair of one trace, the base, serves all: events of different traces
/// are then in the order of their clocks.
class TraceGroup {
 public:
  /// `base` is the trace whose header gives the clock. References must outlive the group.
  TraceGroup(const LogFileHeader& base, capture::CallstackSink& sink, scratch::SpillSpace& space);

  /// Whether clock values of a trace with this header mean the same as those of the base. The wall
  /// times of both starts must agree within kMostApartNs: else they are of different boots.
  [[nodiscard]] bool shares_clock(const LogFileHeader& header) const;

  /// Whether the header's clock is of the kind that could be shared: the same type and frequency.
  [[nodiscard]] bool same_kind_of_clock(const LogFileHeader& header) const;

  /// Makes what Thread events say known to the thread table of a trace as well.
  void add_threads(ThreadStates& threads) { threads_.push_back(&threads); }

  [[nodiscard]] const EtlClock& clock() const { return clock_; }
  [[nodiscard]] KernelTables& kernel() { return kernel_; }
  [[nodiscard]] ImageTables& images() { return images_; }
  /// Which assemblies the methods are of that runtimes made code of.
  [[nodiscard]] dotnet::MethodModules& methods() { return methods_; }
  [[nodiscard]] const KernelTables& kernel() const { return kernel_; }
  [[nodiscard]] const ImageTables& images() const { return images_; }

  void thread_event(const EventView& event);

  /// The end of all traces of the group.
  Status finish(capture::LossCounters& losses);

 private:
  /// The wall clock is corrected by seconds at most while a session starts.
  static constexpr std::uint64_t kMostApartNs = 2'000'000'000;

  EtlClock clock_;
  std::uint32_t clock_type_;
  KernelTables kernel_;
  ImageTables images_;
  dotnet::MethodModules methods_;
  capture::SystemRecorder& system_;
  std::vector<ThreadStates*> threads_;
};

}  // namespace stackpack::etl
