#include "formats/perf/record_sizes.h"

#include "formats/perf/record.h"

namespace stackpack::perf {

namespace {

constexpr std::uint64_t kWord = 8;

// A name with its NUL from `position` to the end, padded to a multiple of eight bytes.
bool ends_with_name(bytes::ByteCursor body, std::size_t position) {
  body.skip(position);
  (void)body.read_c_string();
  return body.ok() && body.remaining() < kWord;
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
  return body.ok() && body.remaining() < kWord;
}

// Process, thread, then the counter as READ has it in samples.
bool is_read(bytes::ByteCursor body, const SampleLayout& layout) {
  if (!layout.read_group) {
    return body.size() == kWord * (1 + std::uint64_t{layout.read_fixed_words});
  }
  body.skip(8);
  const auto values = body.read<std::uint64_t>();
  std::uint64_t words = 0;
  return body.ok() && bytes::checked_mul(values, layout.read_value_words, words) &&
         bytes::checked_add(words, layout.read_fixed_words, words) &&
         body.remaining() / kWord == words && body.remaining() % kWord == 0;
}

}  // namespace

bool fills_kernel_record(std::uint32_t type, bytes::ByteCursor body, const SampleLayout& layout) {
  switch (static_cast<RecordType>(type)) {
    case RecordType::kMmap:
      return ends_with_name(body, 32);
    case RecordType::kMmap2:
      return ends_with_name(body, 64);
    case RecordType::kComm:
    case RecordType::kCgroup:
      return ends_with_name(body, 8);
    case RecordType::kKsymbol:
      return ends_with_name(body, 16);
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

bool fits_tool_record(std::uint32_t type, bytes::ByteCursor payload) {
  switch (static_cast<RecordType>(type)) {
    case RecordType::kFinishedRound:
    case RecordType::kFinishedInit:
      return payload.size() == 0;
    case RecordType::kHeaderEventType:
      return payload.size() == 72;  // an id and a name of 64 bytes
    case RecordType::kHeaderTracingData:
      return payload.size() == 4 || payload.size() == 8;
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
      return payload.size() >= kWord && payload.size() % kWord == 0;
    default:
      return true;
  }
}

}  // namespace stackpack::perf
