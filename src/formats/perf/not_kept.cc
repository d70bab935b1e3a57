#include "formats/perf/not_kept.h"

namespace stackpack::perf {

std::uint64_t fields_not_kept(const Attr& attr) {
  std::uint64_t bits = 0;
  for (const NotKept& field : kFieldsNotKept) {
    bits |= attr.sample_type & field.number;
  }
  if (attr.reads_counters()) {
    bits &= ~sample_bit::kRead;
  }
  constexpr std::uint64_t kTimes = read_bit::kTimeEnabled | read_bit::kTimeRunning;
  if (attr.samples(sample_bit::kRead) && (attr.read_format & kTimes) == kTimes) {
    bits |= extra_bit::kReadTimes;
  }
  if (uses_branch_stack(attr.branch_sample_type, attr.sample_type) ||
      has_branch_history(attr.branch_sample_type, attr.sample_type)) {
    bits &= ~sample_bit::kBranchStack;
  }
  if (attr.samples(sample_bit::kBranchStack) &&
      (attr.branch_sample_type & branch_bit::kCounters) != 0) {
    bits |= extra_bit::kBranchCounters;
  }
  return attr.precise_ip != 0 ? bits | extra_bit::kExactIp : bits;
}

void RecordTallies::report(capture::LossCounters& losses) const {
  for (const NotKept& record : kRecordsNotKept) {
    const Tally& tally = tallies_[place_of(static_cast<std::uint32_t>(record.number))];
    if (tally.count != 0) {
      losses.add(record.loss, LossKind::kNotice, tally.count, tally.first_offset);
    }
  }
}

}  // namespace stackpack::perf
