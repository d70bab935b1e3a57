// Samples that wait for the user part of their stacks.
//
// A kernel that defers the user walk ends the chain of a sample with a cookie. When the thread
// returns to user mode, a CALLCHAIN_DEFERRED record brings the user part: for every waiting sample
// of that thread with the same cookie. Waiting samples of that thread with another cookie will
// never be served: their record was lost. So one record releases all that wait for its thread.
//
// Rejected: handing samples on at once as pending callstacks of the sink (PendingStack). One for
// each sample grows with the capture; and whether the recorded chain stayed empty or incomplete,
// which are flags of the sample, is known only here and only later. Samples wait here instead, at
// most kMaxPerThread of one thread and kMaxBytes in all; the oldest goes first when there are more.
// The sink takes samples in any order of time, so late ones cost nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "capture/stack_view.h"
#include "formats/perf/counter_deltas.h"
#include "formats/perf/switch_events.h"
#include "stackpack/model.h"
#include "stackpack/sample_fields.h"

namespace stackpack::perf {

/// A sample whose chain ended with a cookie.
struct WaitingSample {
  std::uint64_t cookie = 0;
  std::uint64_t offset = 0;  ///< of its record
  Sample sample;
  std::vector<CountedEvent> counted;  ///< of a sample that carries counters: what they gained
  std::optional<Frame> ip;
  std::optional<SwitchEvents::Found> sched;  ///< what it says of switches
  std::optional<FieldRow> kept;              ///< fields that are kept with it
  bool is_precise = false;                   ///< its ip is not where the interrupt came
  bool has_dump = false;
  std::vector<std::uint64_t> addresses;  ///< the part that was recorded at once, leaf first
  std::vector<capture::ModeRun> runs;

  [[nodiscard]] capture::StackView stack() const { return {addresses, runs}; }
};

class DeferredChains {
 public:
  static constexpr std::size_t kMaxPerThread = 4096;
  static constexpr std::size_t kMaxBytes = std::size_t{16} << 20;

  /// Keeps `waiting`, a sample of thread `tid`.
  void hold(std::uint32_t tid, WaitingSample waiting);

  /// While there are too many: the sample to release unmerged, the oldest of `tid` or of all.
  std::optional<WaitingSample> take_excess(std::uint32_t tid);

  /// All samples that wait for `tid`, oldest first.
  std::vector<WaitingSample> take_thread(std::uint32_t tid);

  /// The oldest sample of all; nothing when none waits.
  std::optional<WaitingSample> take_oldest();

  [[nodiscard]] std::size_t size() const { return waiting_.size(); }

 private:
  struct Entry {
    std::uint32_t tid;
    WaitingSample sample;
  };
  using Number = std::uint64_t;

  WaitingSample take(std::map<Number, Entry>::iterator entry);

  std::map<Number, Entry> waiting_;  // by arrival
  std::unordered_map<std::uint32_t, std::deque<Number>> threads_;
  Number next_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace stackpack::perf
