#pragma once

#include <cstdint>

#include "bytes/byte_cursor.h"
#include "stackpack/result.h"

namespace stackpack::perf {

/// Bits of perf_event_attr.sample_type: the fields of a SAMPLE.
namespace sample_bit {
inline constexpr std::uint64_t kIp = 1U << 0;
inline constexpr std::uint64_t kTid = 1U << 1;
inline constexpr std::uint64_t kTime = 1U << 2;
inline constexpr std::uint64_t kAddr = 1U << 3;
inline constexpr std::uint64_t kRead = 1U << 4;
inline constexpr std::uint64_t kCallchain = 1U << 5;
inline constexpr std::uint64_t kId = 1U << 6;
inline constexpr std::uint64_t kCpu = 1U << 7;
inline constexpr std::uint64_t kPeriod = 1U << 8;
inline constexpr std::uint64_t kStreamId = 1U << 9;
inline constexpr std::uint64_t kRaw = 1U << 10;
inline constexpr std::uint64_t kBranchStack = 1U << 11;
inline constexpr std::uint64_t kRegsUser = 1U << 12;
inline constexpr std::uint64_t kStackUser = 1U << 13;
inline constexpr std::uint64_t kWeight = 1U << 14;
inline constexpr std::uint64_t kDataSrc = 1U << 15;
inline constexpr std::uint64_t kIdentifier = 1U << 16;
inline constexpr std::uint64_t kTransaction = 1U << 17;
inline constexpr std::uint64_t kRegsIntr = 1U << 18;
inline constexpr std::uint64_t kPhysAddr = 1U << 19;
inline constexpr std::uint64_t kAux = 1U << 20;
inline constexpr std::uint64_t kCgroup = 1U << 21;
inline constexpr std::uint64_t kDataPageSize = 1U << 22;
inline constexpr std::uint64_t kCodePageSize = 1U << 23;
inline constexpr std::uint64_t kWeightStruct = 1U << 24;
inline constexpr std::uint64_t kAllKnown = (1U << 25) - 1;
}  // namespace sample_bit

/// Bits of perf_event_attr.read_format: the shape of counter values.
namespace read_bit {
inline constexpr std::uint64_t kTimeEnabled = 1U << 0;
inline constexpr std::uint64_t kTimeRunning = 1U << 1;
inline constexpr std::uint64_t kId = 1U << 2;
inline constexpr std::uint64_t kGroup = 1U << 3;
inline constexpr std::uint64_t kLost = 1U << 4;
}  // namespace read_bit

/// Bits of perf_event_attr.branch_sample_type which change a SAMPLE's layout or meaning.
namespace branch_bit {
inline constexpr std::uint64_t kCallStack = 1U << 11;
inline constexpr std::uint64_t kHwIndex = 1U << 17;
inline constexpr std::uint64_t kCounters = 1U << 19;
}  // namespace branch_bit

/// Whether samples have the branches that were taken last; the bit in sample_type decides, since
/// `perf inject --itrace` leaves branch_sample_type at 0.
constexpr bool has_branch_history(std::uint64_t branch_sample_type, std::uint64_t sample_type) {
  return (branch_sample_type & branch_bit::kCallStack) == 0 &&
         (sample_type & sample_bit::kBranchStack) != 0;
}

/// Whether the user part of the callstacks comes from branch records. Plain branch history is none.
constexpr bool uses_branch_stack(std::uint64_t branch_sample_type, std::uint64_t sample_type) {
  return (branch_sample_type & branch_bit::kCallStack) != 0 &&
         (sample_type & sample_bit::kCallchain) != 0;
}

/// Positions of the flag bits of perf_event_attr, from the least significant one of a
/// little-endian file.
namespace attr_flag {
inline constexpr std::uint64_t kInherit = std::uint64_t{1} << 1;
inline constexpr std::uint64_t kExcludeUser = std::uint64_t{1} << 4;
inline constexpr std::uint64_t kExcludeKernel = std::uint64_t{1} << 5;
inline constexpr std::uint64_t kExcludeHv = std::uint64_t{1} << 6;
inline constexpr std::uint64_t kFrequency = std::uint64_t{1} << 10;
inline constexpr std::uint64_t kSampleIdAll = std::uint64_t{1} << 18;
inline constexpr std::uint64_t kExcludeCallchainKernel = std::uint64_t{1} << 21;
inline constexpr std::uint64_t kExcludeCallchainUser = std::uint64_t{1} << 22;
inline constexpr std::uint64_t kUseClockid = std::uint64_t{1} << 25;
}  // namespace attr_flag

/// Size of the oldest perf_event_attr; also what a size of 0 in it stands for.
inline constexpr std::uint64_t kAttrMinBytes = 64;

/// perf_event_attr: what one event counts, and which fields its records have.
struct Attr {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t sample_period = 0;  ///< with the flag kFrequency: samples a second
  std::uint64_t sample_type = 0;
  std::uint64_t read_format = 0;
  std::uint64_t flags = 0;  ///< bit order of a little-endian file, whatever the input's
  unsigned precise_ip = 0;
  std::uint64_t branch_sample_type = 0;
  std::uint64_t sample_regs_user = 0;
  std::int32_t clockid = 0;
  std::uint64_t sample_regs_intr = 0;

  [[nodiscard]] bool samples(std::uint64_t bit) const { return (sample_type & bit) != 0; }
  [[nodiscard]] bool has_flag(std::uint64_t flag) const { return (flags & flag) != 0; }

  /// Whether samples carry the values of counters, each with the id of its event: then a sample's
  /// weight is what the counter gained, and a group gives a sample for each of its events.
  [[nodiscard]] bool reads_counters() const {
    return samples(sample_bit::kRead) && (read_format & read_bit::kId) != 0;
  }

  /// What each sample stands for, where samples do not say it but the attribute does: a fixed
  /// period, or a frequency of a clock, whose timer has the period of 10^9 ns by the frequency
  /// (kernel/events/core.c, perf_swevent_init_hrtimer()). 1: every event is a sample, or the kernel
  /// chose the period.
  [[nodiscard]] std::uint64_t fixed_period() const;

  friend bool operator==(const Attr&, const Attr&) = default;
};

/// Reads a perf_event_attr.
///
/// Input:  `bytes` is fenced to the structure: as many bytes as its writer knew. Fields after its
///         end are zero; bytes after the last field that we know are passed over.
/// Result: kCorrupt when there are fewer bytes than the oldest structure has.
Result<Attr> read_attr(bytes::ByteCursor bytes);

}  // namespace stackpack::perf
