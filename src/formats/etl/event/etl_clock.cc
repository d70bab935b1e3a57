#include "formats/etl/event/etl_clock.h"

namespace stackpack::etl {

namespace {

__extension__ using Wide = __int128;

constexpr std::uint64_t kFiletimeOf1970 = 116444736000000000;
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr std::uint32_t kClockSystemTime = 2;
constexpr std::uint32_t kClockCycles = 3;

std::uint64_t clamp(Wide value) {
  if (value < 0) {
    return 0;
  }
  constexpr std::uint64_t kMost = ~std::uint64_t{0} - 1;  // the last one means "unknown"
  return value > Wide{kMost} ? kMost : static_cast<std::uint64_t>(value);
}

}  // namespace

std::uint64_t unix_ns_of_filetime(std::uint64_t filetime) {
  return clamp((Wide{filetime} - Wide{kFiletimeOf1970}) * 100);
}

EtlClock::EtlClock(const LogFileHeader& header)
    : origin_(header.clock_origin),
      frequency_(header.clock_type == kClockCycles ? std::uint64_t{header.cpu_mhz} * 1'000'000
                                                   : header.frequency),
      is_filetime_(header.clock_type == kClockSystemTime) {
  if (frequency_ == 0) {
    frequency_ = 10'000'000;
    frequency_known_ = is_filetime_;
  }
  if (header.start_filetime >= kFiletimeOf1970) {
    start_ns_ = unix_ns_of_filetime(header.start_filetime);
  } else {
    wall_time_known_ = is_filetime_;
  }
}

std::uint64_t EtlClock::unix_ns(std::uint64_t clock) const {
  if (is_filetime_) {
    return unix_ns_of_filetime(clock);
  }
  // Nearly all times: soon enough after the origin for 64 bits.
  constexpr std::uint64_t kMostTicks = ~std::uint64_t{0} / kNsPerSecond;
  if (clock >= origin_ && clock - origin_ <= kMostTicks) {
    const std::uint64_t ns = (clock - origin_) * kNsPerSecond / frequency_;
    if (ns < ~std::uint64_t{0} - start_ns_) {
      return start_ns_ + ns;
    }
  }
  const Wide ticks = Wide{clock} - Wide{origin_};
  Wide ns = ticks * Wide{kNsPerSecond} / Wide{frequency_};
  if (ticks < 0 && ns * Wide{frequency_} != ticks * Wide{kNsPerSecond}) {
    ns -= 1;  // division rounds towards zero; time rounds down, on both sides of the origin
  }
  return clamp(Wide{start_ns_} + ns);
}

}  // namespace stackpack::etl
