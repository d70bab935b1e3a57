// Which samples of a capture are wanted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stackpack {

/// A time of the capture's clock, or a distance from its first sample.
struct CaptureTime {
  std::uint64_t ns = 0;     ///< nanoseconds
  bool from_start = false;  ///< from the first sample of the file, whatever its event

  friend bool operator==(const CaptureTime&, const CaptureTime&) = default;
};

/// A time as listings write it and as a person would: `1481.017314885` is seconds of the capture's
/// clock, `1481017314885` the same in ns; `+1.5s`, `+20ms`, `+7us`, `+300ns`, also without the
/// plus, are distances from the first sample, and so is `+1.5` in seconds. Digits below a
/// nanosecond are dropped. Nothing when `text` is none of these, or does not fit 64 bits of ns.
std::optional<CaptureTime> parse_capture_time(std::string_view text);

/// What a sample counts for.
enum class CountBy : std::uint8_t {
  kAuto,     ///< what its event measures: kWeight where weights were recorded, else kSamples
  kSamples,  ///< 1
  kWeight,   ///< its recorded weight (period): ns of a clock, cycles, faults, ...
};

/// What becomes of the samples of processors' idle threads.
enum class IdleSamples : std::uint8_t {
  kAuto,  ///< kLeaveOut in reports (top, callers, diff, page), kKeep elsewhere
  kKeep,
  kLeaveOut,
};

/// What samples of waits say besides where a thread waited.
enum class WaitDetail : std::uint8_t {
  kNone,
  kWakers,    ///< callstacks go on at the waker, a frame `READIED BY NAME (TID)`, then its own
  kByWaker,   ///< callstacks are told apart by who ended the wait
  kByReason,  ///< ... by its reason
};

/// Conditions on samples; all that are set must hold. Where there are several names, one of them is
/// enough. Names are patterns: `*` stands for any characters, `?` for any one.
struct SampleFilter {
  /// As the event table spells them; where none is spelled so, what an event counts will do:
  /// `cpu-clock` for cpu-clock:pppH.
  std::vector<std::string> events;
  std::vector<std::string> excluded_events;
  std::optional<std::uint32_t> pid;
  std::optional<std::uint32_t> tid;
  std::optional<std::uint32_t> cpu;  ///< number of the processor
  std::vector<std::string> comms;    ///< of the process or of the thread
  std::vector<std::string> excluded_comms;
  std::vector<std::string> cgroups;  ///< control group: its path, or the last part of it
  /// Labels of the sample, KEY=VALUE, where VALUE is a pattern, or `[no label]` for samples without
  /// that key. Of one key any will do, and of each key one is needed.
  std::vector<std::string> labels;
  /// An image in which a frame of the callstack lies: its path, or the last part of it.
  std::vector<std::string> modules;
  std::vector<std::string> excluded_modules;
  std::optional<CaptureTime> from;  ///< inclusive
  std::optional<CaptureTime> to;    ///< inclusive
  IdleSamples idle = IdleSamples::kAuto;
  /// Of the events `blocked`, `woken` and `preempted`, which are made of a file's intervals where
  /// `events` has their names: those alone that last at least this long.
  std::uint64_t longer_than_ns = 0;
  WaitDetail wait_detail = WaitDetail::kNone;  ///< of the same events

  friend bool operator==(const SampleFilter&, const SampleFilter&) = default;
  /// True when every sample is wanted.
  [[nodiscard]] bool empty() const { return *this == SampleFilter{}; }
};

}  // namespace stackpack
