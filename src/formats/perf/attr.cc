#include "formats/perf/attr.h"

namespace stackpack::perf {

namespace {

// Flags are C bit-fields in a u64: a big-endian compiler puts the first one in the highest bit.
std::uint64_t reverse_bits(std::uint64_t value) {
  std::uint64_t result = 0;
  for (int bit = 0; bit < 64; ++bit) {
    result = (result << 1) | ((value >> bit) & 1);
  }
  return result;
}

unsigned two_bits(std::uint64_t high, std::uint64_t low) {
  return static_cast<unsigned>(((high & 1) << 1) | (low & 1));
}

}  // namespace

std::uint64_t Attr::fixed_period() const {
  constexpr std::uint32_t kSoftware = 1;
  constexpr std::uint64_t kTaskClock = 1;  // the processor's clock is 0
  constexpr std::uint64_t kSecond = 1'000'000'000;
  if (samples(sample_bit::kPeriod) || reads_counters() || sample_period == 0) {
    return 1;
  }
  if (!has_flag(attr_flag::kFrequency)) {
    return sample_period;
  }
  const bool is_clock = type == kSoftware && config <= kTaskClock;
  return is_clock && sample_period <= kSecond ? kSecond / sample_period : 1;
}

Result<Attr> read_attr(bytes::ByteCursor bytes) {
  if (bytes.size() < kAttrMinBytes) {
    return bytes.corrupt("perf: attribute: shorter than the oldest perf_event_attr");
  }
  const bool big = bytes.order() == bytes::ByteOrder::kBig;
  Attr attr;
  attr.type = bytes.read<std::uint32_t>();
  bytes.skip(4);  // size
  attr.config = bytes.read<std::uint64_t>();
  attr.sample_period = bytes.read<std::uint64_t>();
  attr.sample_type = bytes.read<std::uint64_t>();
  attr.read_format = bytes.read<std::uint64_t>();
  const auto flags = bytes.read<std::uint64_t>();
  attr.flags = big ? reverse_bits(flags) : flags;
  // A field of two bits is not reversed inside.
  attr.precise_ip = big ? two_bits(attr.flags >> 15, attr.flags >> 16)
                        : two_bits(attr.flags >> 16, attr.flags >> 15);

  // Newer fields; a cursor at its end gives zeros.
  bytes.seek(64);
  bytes.skip(8);  // config2
  attr.branch_sample_type = bytes.read<std::uint64_t>();
  attr.sample_regs_user = bytes.read<std::uint64_t>();
  bytes.skip(4);  // sample_stack_user
  attr.clockid = static_cast<std::int32_t>(bytes.read<std::uint32_t>());
  attr.sample_regs_intr = bytes.read<std::uint64_t>();
  return attr;
}

}  // namespace stackpack::perf
