#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/model.h"

namespace stackpack::capture {

/// How switches were recorded.
struct SwitchFacts {
  /// Whether the switches of all threads are recorded; unknown: their records tell.
  std::optional<bool> system_wide{};
  /// There are records of all threads of a processor, for want of another answer.
  bool has_wide_records = false;
  /// Samples of switches and wakings are wanted themselves, besides the intervals.
  bool keeps_samples = true;
};

/// What a source knows of all its SchedRecords together. Only the source's thread uses it until
/// the capture is read.
class WaitFacts : public SwitchFacts {
 public:
  /// Rows that are always there.
  static constexpr std::uint32_t kNoReason = 0;
  static constexpr std::uint32_t kUnknownReason = 1;  ///< "?"
  static constexpr std::uint32_t kNewReason = 2;      ///< "new"
  static constexpr std::size_t kMostReasons = 4096;

  /// The number of a reason; that of "?" when there are too many.
  std::uint32_t reason(std::string_view text) {
    const auto known = numbers_.find(text);
    if (known != numbers_.end()) {
      return known->second;
    }
    if (reasons_.size() == kMostReasons) {
      return kUnknownReason;
    }
    const auto number = static_cast<std::uint32_t>(reasons_.size());
    reasons_.emplace_back(text);
    numbers_.emplace(reasons_.back(), number);
    return number;
  }
  [[nodiscard]] const std::vector<std::string>& reasons() const { return reasons_; }

  /// Numbers of records, in the order in which they come from several traces.
  std::uint64_t next_order() { return order_++; }

 private:
  std::uint64_t order_ = 0;
  std::vector<std::string> reasons_{"", "?", "new"};
  std::map<std::string, std::uint32_t, std::less<>> numbers_{{"", 0}, {"?", 1}, {"new", 2}};
};

// What a capture says of its threads' switches, one record an event, whatever the format.

/// What happened. `tid` is the thread it happened to, `other` another one.
enum class SchedKind : std::uint8_t {
  kSwitch,     ///< tid leaves the processor and other runs; the callstack is that of tid
  kSwitchOut,  ///< tid leaves; who runs next is not said
  kSwitchIn,   ///< tid runs
  kOutStack,   ///< the callstack with which tid leaves in a moment
  kWaking,     ///< other makes tid able to run; the callstack is that of other
  kWakeup,     ///< tid became able to run; other is a hint only
  kNewThread,  ///< other made the new thread tid able to run
  kFork,       ///< tid exists from now on
  kExit,       ///< tid has ended
  kSeen,       ///< tid runs, as a sample of it shows
  kHandover,   ///< tid leaves and other runs; its callstack comes as kStackOf other
  kReady,      ///< who runs on the processor, or else other, makes tid able to run
  kBorn,       ///< tid is new and able to run
  kStackOf,    ///< the callstack of tid for the event of the same time
  kGap,        ///< between time and until nothing is known of any thread
  // Of programs that say themselves when they wait; what else their threads do is not known.
  kWaitBegin,  ///< tid waits from now on; the callstack is that of tid
  kWaitEnd,    ///< it waits no more
};

/// Bits of SchedRecord::flags.
enum SchedFlags : std::uint8_t {
  kSchedRunnable = 1,    ///< tid left able to run
  kSchedExit = 2,        ///< tid left for good
  kSchedInterrupt = 4,   ///< other was interrupted, and did nothing
  kSchedDeferred = 8,    ///< the same, by a deferred procedure call
  kSchedOdd = 16,        ///< tid left in a state without a meaning
  kSchedFromStart = 32,  ///< a gap from the first record on
};

struct SchedRecord {
  std::uint64_t time_ns = 0;
  std::uint64_t order = 0;  ///< of records of the same time
  std::uint64_t until_ns = 0;
  std::uint32_t cpu = kUnknownId;
  std::uint32_t tid = 0;
  std::uint32_t other = 0;
  std::uint32_t reason = 0;  ///< of WaitFacts: why tid left
  SchedKind kind = SchedKind::kSeen;
  std::uint8_t flags = 0;
};

}  // namespace stackpack::capture
