#include "formats/perf/features.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "formats/perf/not_kept.h"
#include "formats/perf/record.h"
#include "formats/perf/simpleperf.h"

namespace stackpack::perf {

namespace {

// u32 length, then that many bytes of text with NULs after it.
std::string_view read_text(bytes::ByteCursor& in) {
  bytes::ByteCursor field = in.sub(in.read<std::uint32_t>());
  return field.read_c_string();
}

// Whether a section ends where its fields do, but for padding: one whose size has become larger has
// taken in what follows it.
bool used_up(const bytes::ByteCursor& in) {
  return in.ok() && in.remaining() < 8;
}

bool convert_text(bytes::ByteCursor in, std::string_view key, CaptureContext& context) {
  const std::string_view text = read_text(in);
  if (!used_up(in)) {
    return false;
  }
  context.sink.system().metadata(key, text);
  return true;
}

bool convert_command_line(bytes::ByteCursor in, CaptureContext& context) {
  const auto count = in.read<std::uint32_t>();
  std::string line;
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    line += i == 0 ? "" : " ";
    line += read_text(in);
  }
  if (!used_up(in)) {
    return false;
  }
  context.sink.system().metadata("command_line", line);
  return true;
}

bool convert_cpu_count(bytes::ByteCursor in, CaptureContext& context) {
  in.skip(4);  // configured
  const auto online = in.read<std::uint32_t>();
  if (!used_up(in)) {
    return false;
  }
  context.sink.system().metadata("cpu.count", std::to_string(online));
  return true;
}

bool convert_memory(bytes::ByteCursor in, CaptureContext& context) {
  const auto kilobytes = in.read<std::uint64_t>();
  if (!used_up(in)) {
    return false;
  }
  context.sink.system().metadata("memory.total_kb", std::to_string(kilobytes));
  return true;
}

bool convert_clock_data(bytes::ByteCursor in, CaptureContext& context) {
  in.skip(8);  // version, clock id
  const auto wall_ns = in.read<std::uint64_t>();
  const auto clock_ns = in.read<std::uint64_t>();
  if (!used_up(in)) {
    return false;
  }
  const auto offset = static_cast<std::int64_t>(wall_ns - clock_ns);
  context.sink.system().metadata("clock.wall_offset_ns", std::to_string(offset));
  return true;
}

// A sequence of BUILD_ID records, whose headers may have a type of 0.
bool convert_build_ids(bytes::ByteCursor in, SideBand& side_band) {
  while (in.remaining() != 0) {
    const RecordHeader header = read_record_header(in);
    if (header.size < kRecordHeaderBytes) {
      return false;
    }
    const bytes::ByteCursor body = in.sub(header.size - kRecordHeaderBytes);
    if (!in.ok() || !side_band.convert_build_id(body, header.misc)) {
      return false;
    }
  }
  return true;
}

// The events again, with names: {attribute, u32 number of ids, name, ids} for each.
bool convert_event_names(bytes::ByteCursor in, CaptureContext& context) {
  const auto count = in.read<std::uint32_t>();
  const auto attr_bytes = in.read<std::uint32_t>();
  const auto& rows = context.attrs.rows();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    const Result<Attr> attr = read_attr(in.sub(attr_bytes));
    const auto id_count = in.read<std::uint32_t>();
    const std::string_view name = read_text(in);
    bytes::ByteCursor ids = in.sub(std::uint64_t{id_count} * 8);
    if (!in.ok() || !attr) {
      return false;
    }
    std::optional<std::uint32_t> row;
    if (id_count != 0) {
      row = context.attrs.row_of_id(ids.read<std::uint64_t>());
    }
    if (!row && i < rows.size() && rows[i].attr.type == attr->type &&
        rows[i].attr.config == attr->config) {
      row = i;
    }
    if (row && !name.empty()) {
      context.sink.rename_event(rows[*row].event, name);
    }
  }
  return used_up(in);
}

}  // namespace

bool is_used_feature(std::uint32_t feature) {
  return (feature >= static_cast<std::uint32_t>(Feature::kBuildId) &&
          feature <= static_cast<std::uint32_t>(Feature::kEventDescription)) ||
         feature == static_cast<std::uint32_t>(Feature::kClockData) ||
         feature == static_cast<std::uint32_t>(SimpleperfFeature::kMetaInfo);
}

std::string_view feature_loss(std::uint32_t feature) {
  constexpr std::uint32_t kDirectory = 24;
  constexpr std::uint32_t kCompression = 27;
  if (is_used_feature(feature) || feature == kDirectory || feature == kCompression) {
    return {};
  }
  const auto* const found =
      std::find_if(std::begin(kFeaturesNotKept), std::end(kFeaturesNotKept),
                   [&](const NotKept& entry) { return entry.number == feature; });
  return found != std::end(kFeaturesNotKept) ? found->loss : kOtherFeaturesNotKept;
}

bool convert_feature(std::uint32_t feature, bytes::ByteCursor content, CaptureContext& context,
                     SideBand& side_band) {
  if (feature == static_cast<std::uint32_t>(SimpleperfFeature::kMetaInfo)) {
    return convert_meta_info(content, context);
  }
  switch (static_cast<Feature>(feature)) {
    case Feature::kBuildId:
      return convert_build_ids(content, side_band);
    case Feature::kHostname:
      return convert_text(content, "host.name", context);
    case Feature::kOsRelease:
      return convert_text(content, "os.release", context);
    case Feature::kVersion:
      return convert_text(content, "recorder.version", context);
    case Feature::kArch:
      return convert_text(content, "arch", context);
    case Feature::kCpuCount:
      return convert_cpu_count(content, context);
    case Feature::kCpuDescription:
      return convert_text(content, "cpu.description", context);
    case Feature::kCpuId:
      return convert_text(content, "cpu.id", context);
    case Feature::kTotalMemory:
      return convert_memory(content, context);
    case Feature::kCommandLine:
      return convert_command_line(content, context);
    case Feature::kEventDescription:
      return convert_event_names(content, context);
    case Feature::kClockData:
      return convert_clock_data(content, context);
    case Feature::kTracingData:
      break;  // capture_reader.cc
  }
  return true;
}

void convert_clock(const Attr& attr, CaptureContext& context) {
  if (!attr.has_flag(attr_flag::kUseClockid) || !attr.samples(sample_bit::kTime)) {
    return;
  }
  capture::SystemRecorder& system = context.sink.system();
  switch (attr.clockid) {  // clock_gettime(2)
    case 0:
      system.metadata("clock.id", "realtime");
      system.metadata("clock.wall_offset_ns", "0");
      break;
    case 1:
      system.metadata("clock.id", "monotonic");
      break;
    case 4:
      system.metadata("clock.id", "monotonic_raw");
      break;
    case 7:
      system.metadata("clock.id", "boottime");
      break;
    case 11:
      system.metadata("clock.id", "tai");
      break;
    default:
      system.metadata("clock.id", std::to_string(attr.clockid));
      break;
  }
}

}  // namespace stackpack::perf
