#include "formats/perf/record_probe.h"

#include <algorithm>
#include <vector>

#include "formats/perf/callchain.h"
#include "formats/perf/record_sizes.h"

namespace stackpack::perf {

namespace {

// cpumode up to guest user, and none of the bits that no record uses.
bool plausible_header(const RecordHeader& header) {
  constexpr std::uint16_t kUnusedMisc = 0x0ff8;
  constexpr std::uint16_t kLastCpuMode = 5;
  if (header.size < kRecordHeaderBytes || !is_known_record(header.type)) {
    return false;
  }
  return !is_known_kernel_record(header.type) ||
         (header.size % 8 == 0 && (header.misc & kUnusedMisc) == 0 &&
          (header.misc & kMiscCpuModeMask) <= kLastCpuMode);
}

// Whether the stack begins at the instruction pointer, or is empty.
bool begins_at_ip(const SampleFields& fields) {
  constexpr std::uint64_t kMostMarkers = 8;
  const std::optional<std::uint64_t> first = first_address(fields.chain, fields.chain_entries);
  return first ? *first == fields.ip : fields.chain_entries < kMostMarkers;
}

}  // namespace

bool RecordProbe::plausible_sample(bytes::ByteCursor payload) const {
  const AttrTable::Row* row = context_.attrs.of_sample(payload);
  SampleFields fields;
  if (row == nullptr || read_sample(payload, row->layout, fields) != SampleFit::kExact) {
    return false;
  }
  return !row->layout.has(sample_bit::kIp) || row->layout.ip_may_be_apart || begins_at_ip(fields);
}

bool RecordProbe::plausible_other(std::uint32_t type, bytes::ByteCursor payload) const {
  const AttrTable::Row* row = context_.attrs.of_other(payload);
  if (row == nullptr) {
    return false;
  }
  const KernelRecord read = read_kernel_record(type, payload, *row);
  const std::uint64_t id = read.trailer.id;
  return read.fit == RecordFit::kExact &&
         (id == 0 || !context_.attrs.has_ids() || context_.attrs.row_of_id(id));
}

bool RecordProbe::plausible(const RecordHeader& header, bytes::ByteCursor payload) const {
  if (!plausible_header(header)) {
    return false;
  }
  if (static_cast<RecordType>(header.type) == RecordType::kSample) {
    return plausible_sample(payload);
  }
  return !is_known_kernel_record(header.type) || plausible_other(header.type, payload);
}

bool RecordProbe::records_begin(std::span<const std::byte> window, bool is_end) const {
  std::size_t at = 0;
  for (int i = 0; i < kRecordsInRow; ++i) {
    if (is_end && at == window.size()) {
      return i > 0;
    }
    bytes::ByteCursor in(window.subspan(at), 0, context_.order);
    const RecordHeader header = read_record_header(in);
    if (!in.ok() || !plausible_header(header)) {
      return false;
    }
    const bytes::ByteCursor payload = in.sub(header.size - kRecordHeaderBytes);
    if (!in.ok() || !plausible(header, payload)) {
      return false;
    }
    at += header.size;
  }
  return true;
}

bool RecordProbe::hides_samples(bytes::ByteCursor payload) const {
  enum class Chain : std::uint8_t { kNone, kRecords, kSamples };
  const std::span<const std::byte> window = payload.rest();
  if (window.size() < kRecordHeaderBytes) {
    return false;
  }
  // From the end to the start: what begins at each place and reaches the end in whole records.
  std::vector<Chain> from(window.size() + 1, Chain::kNone);
  from.back() = Chain::kRecords;
  for (std::size_t at = window.size() - kRecordHeaderBytes + 1; at-- > 0;) {
    bytes::ByteCursor in(window.subspan(at), 0, context_.order);
    const RecordHeader header = read_record_header(in);
    if (header.size < kRecordHeaderBytes || header.size > window.size() - at ||
        from[at + header.size] == Chain::kNone ||
        !plausible(header, in.sub(header.size - kRecordHeaderBytes))) {
      continue;
    }
    from[at] = static_cast<RecordType>(header.type) == RecordType::kSample ? Chain::kSamples
                                                                           : from[at + header.size];
    if (from[at] == Chain::kSamples) {
      return true;
    }
  }
  return false;
}

bool RecordProbe::may_pass(const RecordHeader& header, std::span<const std::byte> window,
                           bool is_end) const {
  if (header.size < kRecordHeaderBytes || header.size > window.size()) {
    return false;
  }
  bytes::ByteCursor in(window.subspan(header.size), 0, context_.order);
  if (in.remaining() == 0) {
    return is_end;
  }
  const RecordHeader next = read_record_header(in);
  // The next one may be of another new type: those are small numbers, unlike most garbage.
  constexpr std::uint32_t kNewTypes = 256;
  return in.ok() && next.size >= kRecordHeaderBytes && next.type != 0 &&
         (next.type < kNewTypes || next.type == header.type || is_known_record(next.type));
}

}  // namespace stackpack::perf
