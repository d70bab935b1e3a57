#include "formats/perf/offcpu_samples.h"

namespace stackpack::perf {

bool read_offcpu_sample(const AttrTable::Row& row, SampleFields& fields) {
  constexpr std::uint32_t kSoftware = 1;
  constexpr std::uint64_t kBpfOutput = 10;
  constexpr std::uint64_t kUserMarker = ~std::uint64_t{511};  // PERF_CONTEXT_USER
  constexpr std::uint64_t kWord = 8;
  if (row.attr.type != kSoftware || row.attr.config != kBpfOutput ||
      !row.layout.has(sample_bit::kRaw) || row.layout.has(sample_bit::kCallchain)) {
    return false;
  }
  bytes::ByteCursor in = fields.raw;
  const auto first = in.read<std::uint32_t>();
  const auto second = in.read<std::uint32_t>();
  const auto length_ns = in.read<std::uint64_t>();
  const auto count = in.read<std::uint64_t>();
  if (!in.ok() || count == 0 || count > in.remaining() / kWord) {
    return false;
  }
  const bytes::ByteCursor chain = in.sub(count * kWord);
  bytes::ByteCursor marker = chain;
  if (marker.read<std::uint64_t>() != kUserMarker) {
    return false;
  }
  const bool is_sum = fields.time >= kNoSampleTime;
  fields.pid = is_sum ? first : second;
  fields.tid = is_sum ? second : first;
  fields.period = length_ns;
  fields.chain = chain;
  fields.chain_entries = count;
  return true;
}

}  // namespace stackpack::perf
