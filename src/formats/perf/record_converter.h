#pragma once

#include "formats/perf/capture_context.h"
#include "formats/perf/record.h"
#include "formats/perf/record_probe.h"
#include "formats/perf/sample_converter.h"
#include "formats/perf/side_band.h"
#include "stackpack/result.h"

namespace stackpack::perf {

/// Converts the records of a capture, one by one. What has to do with the stream itself (compressed
/// records, payloads outside of their records) is the business of RecordStream.
///
/// Bytes:  counts the record as parsed, or as skipped, in the context's account.
/// Errors: only those of the sink; a record that cannot be understood is counted.
class RecordConverter {
 public:
  explicit RecordConverter(CaptureContext& context)
      : context_(context), samples_(context), side_band_(context), probe_(context) {}

  Status convert(const Record& record) {
    ++context_.records;
    if (!record.compressed) {
      context_.account.parsed += kRecordHeaderBytes + record.payload.size();
    }
    if (static_cast<RecordType>(record.type) == RecordType::kSample) {
      return context_.without_samples ? Status() : samples_.convert_sample(record);
    }
    return convert_other(record);
  }

  /// Adds an attribute as an event of the sink. `ids` holds its event ids, 8 bytes each.
  /// False: there are too many attributes or ids.
  bool add_attribute(const Attr& attr, bytes::ByteCursor ids);

  /// One feature section, whatever it came in.
  bool convert_feature(std::uint32_t feature, bytes::ByteCursor content);

  /// Call once, after the last record.
  Status finish();

 private:
  Status convert_other(const Record& record);
  Status pass_unused(const Record& record);
  void pass_tool_record(const Record& record);
  bool convert_feature_record(const Record& record);
  bool convert_attribute(bytes::ByteCursor payload);
  bool convert_event_update(const Record& record);

  CaptureContext& context_;
  SampleConverter samples_;
  SideBand side_band_;
  RecordProbe probe_;
};

}  // namespace stackpack::perf
