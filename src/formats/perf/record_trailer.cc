#include "formats/perf/record_trailer.h"

#include <bit>

namespace stackpack::perf {

std::optional<RecordTrailer> read_trailer(bytes::ByteCursor payload, const Attr& attr) {
  RecordTrailer trailer;
  if (!attr.has_flag(attr_flag::kSampleIdAll)) {
    return trailer;
  }
  constexpr std::uint64_t kFields = sample_bit::kTid | sample_bit::kTime | sample_bit::kId |
                                    sample_bit::kStreamId | sample_bit::kCpu |
                                    sample_bit::kIdentifier;
  trailer.bytes = 8 * static_cast<std::size_t>(std::popcount(attr.sample_type & kFields));
  if (trailer.bytes > payload.size()) {
    return std::nullopt;
  }
  payload.seek(payload.size() - trailer.bytes);
  if (attr.samples(sample_bit::kTid)) {
    trailer.pid = payload.read<std::uint32_t>();
    trailer.tid = payload.read<std::uint32_t>();
  }
  if (attr.samples(sample_bit::kTime)) {
    const auto time = payload.read<std::uint64_t>();
    trailer.time_ns = time != 0 ? time : kUnknownTime;
  }
  if (attr.samples(sample_bit::kId)) {
    trailer.id = payload.read<std::uint64_t>();
  }
  payload.skip(attr.samples(sample_bit::kStreamId) ? 8U : 0U);
  if (attr.samples(sample_bit::kCpu)) {
    trailer.cpu = payload.read<std::uint32_t>();
    payload.skip(4);  // reserved
  }
  if (attr.samples(sample_bit::kIdentifier)) {
    trailer.id = payload.read<std::uint64_t>();
  }
  return trailer;
}

}  // namespace stackpack::perf
