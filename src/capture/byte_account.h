// Where every byte of a capture went. What was passed over is counted by reason: there is no way to
// count a byte as skipped without one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "stackpack/stats.h"

namespace stackpack::capture {

/// Why bytes of a capture are not in the result. A reason that is also a loss counter has its name:
/// the counter says how often it happened, the reason how many bytes it took.
enum class SkipReason : std::uint8_t {
  // perf: of no use to us
  kAuxtraceData,    ///< what follows an AUXTRACE record: hardware traces
  kTracingData,     ///< what follows a TRACING_DATA record: formats of tracepoints
  kUnreadSections,  ///< sections of the file header that are not asked for
  kTrailingText,    ///< what perf printed into the pipe after the records
  kUnreferenced,    ///< after the last section
  // perf: damage
  kBadRecords,
  kBadSamples,
  kUnknownEventId,
  kUnknownRecordTypes,
  kFeaturesDamaged,
  kCompressedDataDamaged,
  kCompressedRecordsUnread,
  kDamagedBytes,  ///< from a damaged record to where records begin again
  kRecordCut,     ///< of a record that the end of the capture cuts
  // etl: of no use to us
  kBuffersWithoutEvents,
  // etl: damage
  kSkippedBufferBytes,
  kSkippedTailBytes,
  kCutBuffers,
  kOversizedBuffers,
  kUndecodableBuffers,
  kBuffersEndedEarly,
  kBadEventMarkers,
  kObsoleteEventHeaders,
  kBadEventSizes,
  kBadExtendedItems,
  // folded, pprof: damage
  kFoldedBinaryLine,
  kFoldedLineTooLong,
  kFoldedLineWithoutCount,
  kFoldedStackTooDeep,
  kPprofDamagedStream,
};

inline constexpr std::size_t kSkipReasons =
    static_cast<std::size_t>(SkipReason::kPprofDamagedStream) + 1;

/// The name under which a reason is stored and shown; it never changes.
std::string_view name_of(SkipReason reason);

/// Skipped bytes by reason.
class SkippedBytes {
 public:
  void add(SkipReason reason, std::uint64_t bytes) {
    bytes_[static_cast<std::size_t>(reason)] += bytes;
  }
  [[nodiscard]] std::uint64_t of(SkipReason reason) const {
    return bytes_[static_cast<std::size_t>(reason)];
  }
  [[nodiscard]] std::uint64_t total() const;

  /// Those that are not 0, by name.
  [[nodiscard]] std::vector<SkippedBytesCount> sorted() const;

 private:
  std::array<std::uint64_t, kSkipReasons> bytes_{};
};

struct ByteAccount {
  std::uint64_t total = 0;    ///< bytes of the capture, all parts
  std::uint64_t parsed = 0;   ///< headers and records that were understood
  std::uint64_t padding = 0;  ///< unused space which the format provides for
  SkippedBytes skipped{};     ///< not understood, or understood and of no use

  /// Every byte is in one of the three.
  [[nodiscard]] bool balanced() const { return parsed + padding + skipped.total() == total; }
};

}  // namespace stackpack::capture
