#include "formats/perf/record_converter.h"

#include <string_view>

#include "capture/time_resolution.h"
#include "formats/perf/features.h"
#include "formats/perf/perf_event_names.h"
#include "formats/perf/perf_losses.h"
#include "formats/perf/record_sizes.h"
#include "formats/perf/simpleperf.h"
#include "formats/perf/switch_events.h"

namespace stackpack::perf {

// Records of tools that say nothing here.
Status RecordConverter::pass_unused(const Record& record) {
  if (!is_known_tool_record(record.type) && !is_simpleperf_record(record.type)) {
    context_.reject(record, skip::kUnknownRecordTypes);
  } else if (!fits_tool_record(record.type, record.payload)) {
    context_.reject(record, skip::kBadRecords);
  } else {
    pass_tool_record(record);
  }
  return {};
}

Status RecordConverter::convert_other(const Record& record) {
  // Of most of the perf tool's records the size is not known from their content.
  if (is_known_tool_record(record.type) && probe_.hides_samples(record.payload)) {
    context_.damage(loss::kOverlongRecords, 1, record.offset);
  }
  bool understood = true;
  switch (static_cast<RecordType>(record.type)) {
    case RecordType::kCallchainDeferred:
      return context_.without_samples ? Status() : samples_.convert_deferred(record);
    case RecordType::kHeaderAttr:
      understood = convert_attribute(record.payload);
      break;
    case RecordType::kHeaderFeature:
      if (!convert_feature_record(record)) {
        context_.reject(record, skip::kFeaturesDamaged);
      }
      return {};
    case RecordType::kEventUpdate:
      understood = convert_event_update(record);
      break;
    case RecordType::kCompressed:
    case RecordType::kCompressed2:
      understood = false;  // inside of another one; RecordStream takes those outside
      break;
    case RecordType::kHeaderBuildId:
      understood = side_band_.convert_build_id(record.payload, record.misc);
      break;
    case RecordType::kSimpleperfEventId:
      understood = convert_event_ids(record.payload, context_);
      break;
    default:
      return is_known_kernel_record(record.type) ? side_band_.convert(record) : pass_unused(record);
  }
  if (!understood) {
    context_.reject(record, skip::kBadRecords);
  }
  return {};
}

// Of the perf tool or simpleperf: nothing is kept of it.
void RecordConverter::pass_tool_record(const Record& record) {
  bytes::ByteCursor payload = record.payload;
  switch (static_cast<RecordType>(record.type)) {
    case RecordType::kFinishedRound:
      if (context_.switches != nullptr) {
        context_.switches->finished_round();
      }
      return;
    case RecordType::kFinishedInit:
      return;  // they mark a place, and hold nothing
    case RecordType::kAuxtraceError:
      context_.sink.losses().add(loss::kRecorderTraceErrors, LossKind::kRecorder, 1, record.offset);
      return;
    case RecordType::kIdIndex:
      if (context_.switches != nullptr) {
        context_.switches->id_index(payload);
      }
      break;
    case RecordType::kAuxtrace:
      context_.trace_bytes.there += payload.read<std::uint64_t>();
      break;
    default:
      break;
  }
  context_.pass_over(record);
}

Status RecordConverter::finish() {
  context_.records_not_kept.report(context_.sink.losses());
  const auto& bytes = context_.trace_bytes;
  if (bytes.there < bytes.announced) {
    context_.notice(loss::kTraceBytesMissing, bytes.announced - bytes.there, kNoOffset);
  }
  if (context_.places_are_times) {
    context_.sink.system().metadata(capture::kUntimedKey, "1");
  }
  const Status finished = samples_.finish();
  if (context_.switches != nullptr) {
    context_.switches->finish();
  }
  return finished;
}

bool RecordConverter::convert_feature_record(const Record& record) {
  bytes::ByteCursor payload = record.payload;
  const auto number = payload.read<std::uint64_t>();
  if (!payload.ok() || number >= kFeatureBits) {
    return false;
  }
  const auto feature = static_cast<std::uint32_t>(number);
  const std::string_view loss = feature_loss(feature);
  if (!loss.empty() && payload.remaining() != 0) {
    context_.notice(loss, 1, record.offset);
    context_.move_record(record, skip::kRecordsNotKept);
  }
  return convert_feature(feature,
                         bytes::ByteCursor(payload.rest(), payload.offset(), payload.order()));
}

bool RecordConverter::add_attribute(const Attr& attr, bytes::ByteCursor ids) {
  const std::uint32_t event = static_cast<std::uint32_t>(context_.attrs.rows().size());
  if (event >= AttrTable::kMaxRows) {
    return false;
  }
  if (event == 0) {
    convert_clock(attr, context_);
  }
  Event row;
  row.name = derive_event_name(attr);
  row.has_weight =
      attr.samples(sample_bit::kPeriod) || attr.reads_counters() || attr.fixed_period() > 1;
  const std::optional<std::uint32_t> index = context_.attrs.add(attr, context_.sink.add_event(row));
  if (!index) {
    return false;
  }
  while (ids.remaining() >= 8) {
    if (!context_.attrs.add_id(*index, ids.read<std::uint64_t>())) {
      context_.attrs.forbid_guessing();
      return false;
    }
  }
  return true;
}

bool RecordConverter::convert_attribute(bytes::ByteCursor payload) {
  bytes::ByteCursor size_field = payload;
  size_field.skip(4);
  const auto written = size_field.read<std::uint32_t>();
  const Result<Attr> attr = read_attr(payload.sub(written != 0 ? written : kAttrMinBytes));
  if (!payload.ok() || !attr) {
    context_.attrs.forbid_guessing();
    return false;
  }
  return add_attribute(*attr, payload);
}

bool RecordConverter::convert_feature(std::uint32_t feature, bytes::ByteCursor content) {
  return perf::convert_feature(feature, content, context_, side_band_);
}

// Facts about an event that came too late for its attribute: here, its name.
bool RecordConverter::convert_event_update(const Record& record) {
  constexpr std::uint64_t kName = 2;
  bytes::ByteCursor payload = record.payload;
  const auto kind = payload.read<std::uint64_t>();
  const auto id = payload.read<std::uint64_t>();
  if (payload.ok() && kind != kName) {
    context_.pass_over(record);
  }
  if (!payload.ok() || kind != kName) {
    return payload.ok();
  }
  const std::string_view name = payload.read_c_string();
  if (const auto row = context_.attrs.row_of_id(id); row && !name.empty()) {
    context_.sink.rename_event(context_.attrs.rows()[*row].event, name);
  }
  return true;
}

}  // namespace stackpack::perf
