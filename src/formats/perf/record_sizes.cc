#include "formats/perf/record_sizes.h"

#include <algorithm>

#include "formats/perf/record.h"

namespace stackpack::perf {

namespace {

constexpr std::uint64_t kAlignment = 8;

// Where the name in a record of `type` begins, which ends with it; 0: it ends with something else.
std::size_t name_position(std::uint32_t type) {
  switch (static_cast<RecordType>(type)) {
    case RecordType::kMmap:
      return 32;
    case RecordType::kMmap2:
      return 64;
    case RecordType::kComm:
    case RecordType::kCgroup:
      return 8;
    case RecordType::kKsymbol:
      return 16;
    default:
      return 0;
  }
}

bool holds_zeros(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// A name with its NUL from `position` to the end. Up to the next multiple of eight bytes anything
// may follow: the perf tool does not clear what it copied there before. More of it are zeros.
bool ends_with_name(bytes::ByteCursor body, std::size_t position) {
  body.skip(position);
  const std::size_t room = body.remaining();
  if (body.read_c_string().size() >= room) {
    return false;
  }
  body.skip(body.remaining() % kAlignment);
  return holds_zeros(body.rest());
}

// An id, and a name in 64 bytes or, of older recorders, in as many as it takes.
bool is_event_type(bytes::ByteCursor body) {
  constexpr std::size_t kMostBytes = 72;
  const std::size_t size = body.size();
  body.skip(8);  // id
  const std::size_t room = body.remaining();
  return size % kAlignment == 0 && size <= kMostBytes && body.read_c_string().size() < room;
}

// A size alone, or with what it is the size of.
bool is_tracing_data(bytes::ByteCursor body) {
  if (body.size() == 4 || body.size() == 8) {
    return true;
  }
  const bool inside = tracing_data_inside(body);
  body.skip(body.read<std::uint32_t>());
  return inside && holds_zeros(body.rest());
}

// An array of `entry_bytes` each after `position` bytes and a u64 that counts them.
bool is_array(bytes::ByteCursor body, std::size_t position, std::uint64_t entry_bytes) {
  body.skip(position);
  const auto count = body.read<std::uint64_t>();
  std::uint64_t bytes = 0;
  return body.ok() && bytes::checked_mul(count, entry_bytes, bytes) && body.remaining() == bytes;
}

bool is_text_poke(bytes::ByteCursor body) {
  body.skip(8);  // address
  const std::uint64_t old_bytes = body.read<std::uint16_t>();
  const std::uint64_t new_bytes = body.read<std::uint16_t>();
  body.skip(old_bytes + new_bytes);
  return body.ok() && body.remaining() < kAlignment;
}

// Process, thread, then the counter as READ has it in samples.
bool is_read(bytes::ByteCursor body, const SampleLayout& layout) {
  if (!layout.read_group) {
    return body.size() == kAlignment * (1 + std::uint64_t{layout.read_fixed_words});
  }
  body.skip(8);
  const auto values = body.read<std::uint64_t>();
  std::uint64_t words = 0;
  return body.ok() && bytes::checked_mul(values, layout.read_value_words, words) &&
         bytes::checked_add(words, layout.read_fixed_words, words) &&
         body.remaining() / kAlignment == words && body.remaining() % kAlignment == 0;
}

// Whether the fields of a record of `type` fill `body`.
bool fills_body(std::uint32_t type, bytes::ByteCursor body, const SampleLayout& layout) {
  if (const std::size_t position = name_position(type); position != 0) {
    return ends_with_name(body, position);
  }
  switch (static_cast<RecordType>(type)) {
    case RecordType::kNamespaces:
      return is_array(body, 8, 16);
    case RecordType::kTextPoke:
      return is_text_poke(body);
    case RecordType::kRead:
      return is_read(body, layout);
    case RecordType::kExit:
    case RecordType::kFork:
    case RecordType::kThrottle:
    case RecordType::kUnthrottle:
    case RecordType::kAux:
      return body.size() == 24;
    case RecordType::kLost:
    case RecordType::kBpfEvent:
      return body.size() == 16;
    case RecordType::kLostSamples:
    case RecordType::kItraceStart:
    case RecordType::kSwitchCpuWide:
    case RecordType::kAuxOutputHwId:
      return body.size() == 8;
    case RecordType::kSwitch:
      return body.size() == 0;
    default:
      return true;
  }
}

// Whether a record can have been written without the trailer that its event announces: the perf
// tool makes records of these types itself. What is another record with a damaged type has no name
// where one begins.
bool may_lack_trailer(std::uint32_t type, bytes::ByteCursor payload) {
  if (const std::size_t position = name_position(type); position != 0) {
    payload.skip(position);
    return payload.read<std::uint8_t>() > ' ';
  }
  switch (static_cast<RecordType>(type)) {
    case RecordType::kBpfEvent:
    case RecordType::kNamespaces:
    case RecordType::kFork:
    case RecordType::kExit:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool tracing_data_inside(bytes::ByteCursor payload) {
  const auto size = payload.read<std::uint32_t>();
  return payload.ok() && payload.remaining() >= size;
}

KernelRecord read_kernel_record(std::uint32_t type, bytes::ByteCursor payload,
                                const AttrTable::Row& row) {
  KernelRecord record;
  if (const auto trailer = read_trailer(payload, row.attr)) {
    bytes::ByteCursor all = payload;
    record.trailer = *trailer;
    record.body = all.sub(payload.size() - trailer->bytes);
    if (fills_body(type, record.body, row.layout)) {
      record.fit = RecordFit::kExact;
      return record;
    }
    record.fit = name_position(type) != 0 ? RecordFit::kOverlong : RecordFit::kNone;
  }
  if (may_lack_trailer(type, payload) && fills_body(type, payload, row.layout)) {
    record.trailer = {};
    record.body = payload;
    record.fit = RecordFit::kExact;
  }
  return record;
}

bool fits_tool_record(std::uint32_t type, bytes::ByteCursor payload) {
  switch (static_cast<RecordType>(type)) {
    case RecordType::kFinishedRound:
    case RecordType::kFinishedInit:
      return payload.size() == 0;
    case RecordType::kHeaderEventType:
      return is_event_type(payload);
    case RecordType::kHeaderTracingData:
      return is_tracing_data(payload);
    case RecordType::kAuxtrace:
    case RecordType::kStat:
      return payload.size() == 40;
    case RecordType::kStatRound:
      return payload.size() == 16;
    case RecordType::kIdIndex:  // later ones have a second array, of 16 bytes each
      return is_array(payload, 0, 32) || is_array(payload, 0, 48);
    case RecordType::kThreadMap:
      return is_array(payload, 0, 24);
    case RecordType::kStatConfig:
      return is_array(payload, 0, 16);
    case RecordType::kAuxtraceInfo:
    case RecordType::kTimeConv:
    case RecordType::kBpfMetadata:
    case RecordType::kSchedstatCpu:
    case RecordType::kSchedstatDomain:
      return payload.size() >= kAlignment && payload.size() % kAlignment == 0;
    default:
      return true;
  }
}

}  // namespace stackpack::perf
