#include "capture/byte_account.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace stackpack::capture {

std::string_view name_of(SkipReason reason) {
  switch (reason) {
    case SkipReason::kAuxtraceData:
      return "auxtrace_data";
    case SkipReason::kTracingData:
      return "tracing_data";
    case SkipReason::kUnreadSections:
      return "unread_sections";
    case SkipReason::kTrailingText:
      return "trailing_text_bytes";
    case SkipReason::kUnreferenced:
      return "unreferenced_bytes";
    case SkipReason::kBadRecords:
      return "bad_records";
    case SkipReason::kBadSamples:
      return "bad_samples";
    case SkipReason::kUnknownEventId:
      return "unknown_event_id";
    case SkipReason::kUnknownRecordTypes:
      return "unknown_record_types";
    case SkipReason::kFeaturesDamaged:
      return "feature_sections_damaged";
    case SkipReason::kCompressedDataDamaged:
      return "compressed_data_damaged";
    case SkipReason::kCompressedRecordsUnread:
      return "compressed_records_unread";
    case SkipReason::kDamagedBytes:
      return "damaged_bytes";
    case SkipReason::kRecordCut:
      return "record_cut";
    case SkipReason::kBuffersWithoutEvents:
      return "buffers_without_events";
    case SkipReason::kSkippedBufferBytes:
      return "skipped_buffer_bytes";
    case SkipReason::kSkippedTailBytes:
      return "skipped_tail_bytes";
    case SkipReason::kCutBuffers:
      return "cut_buffers";
    case SkipReason::kOversizedBuffers:
      return "oversized_buffers";
    case SkipReason::kUndecodableBuffers:
      return "undecodable_buffers";
    case SkipReason::kBuffersEndedEarly:
      return "buffers_ended_early";
    case SkipReason::kBadEventMarkers:
      return "bad_event_markers";
    case SkipReason::kObsoleteEventHeaders:
      return "obsolete_event_headers";
    case SkipReason::kBadEventSizes:
      return "bad_event_sizes";
    case SkipReason::kBadExtendedItems:
      return "bad_extended_items";
    case SkipReason::kFoldedBinaryLine:
      return "folded_binary_line";
    case SkipReason::kFoldedLineTooLong:
      return "folded_line_too_long";
    case SkipReason::kFoldedLineWithoutCount:
      return "folded_line_without_count";
    case SkipReason::kFoldedStackTooDeep:
      return "folded_stack_too_deep";
    case SkipReason::kPprofDamagedStream:
      return "pprof_damaged_stream";
  }
  return "unknown";
}

std::uint64_t SkippedBytes::total() const {
  return std::accumulate(bytes_.begin(), bytes_.end(), std::uint64_t{0});
}

std::vector<SkippedBytesCount> SkippedBytes::sorted() const {
  std::vector<SkippedBytesCount> counts;
  for (std::size_t i = 0; i < kSkipReasons; ++i) {
    if (bytes_[i] != 0) {
      counts.push_back({std::string(name_of(static_cast<SkipReason>(i))), bytes_[i]});
    }
  }
  std::sort(counts.begin(), counts.end(),
            [](const auto& left, const auto& right) { return left.reason < right.reason; });
  return counts;
}

}  // namespace stackpack::capture
