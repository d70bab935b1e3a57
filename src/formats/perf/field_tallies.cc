#include "formats/perf/field_tallies.h"

#include <bit>
#include <cstddef>
#include <utility>

#include "formats/perf/perf_losses.h"
#include "formats/perf/tracepoint_values.h"

namespace stackpack::perf {

namespace {

constexpr std::size_t kWord = 8;

void set_weight(std::uint64_t word, bool parts, FieldRow& row) {
  if (!parts) {
    row.set(SampleField::kWeight, word);
    return;
  }
  row.set(SampleField::kWeight, word & 0xFFFF'FFFF);
  row.set(SampleField::kInstructionLatency, word >> 32 & 0xFFFF);
  row.set(SampleField::kStageLatency, word >> 48);
}

// Of dumps that are unwound, the callstacks are kept.
std::uint64_t not_kept_of(const CaptureContext& context, const AttrTable::Row& row) {
  const std::size_t number = context.attrs.number_of(row);
  const bool keeps_raw = context.tracepoints != nullptr && context.tracepoints->keeps(number, row);
  constexpr std::uint64_t kDump = sample_bit::kRegsUser | sample_bit::kStackUser;
  const std::uint64_t used = (context.unwinder != nullptr ? kDump : 0) |
                             (keeps_raw ? sample_bit::kRaw : 0) |
                             (context.sink.sample_fields() != nullptr ? kFieldsWithSample : 0);
  return row.not_kept & ~used;
}

// The bytes of the fields in `bits`: all that follow the callchain but those in use, and some
// before it.
std::uint64_t bytes_of(std::uint64_t bits, const SampleLayout& layout, const SampleFields& fields,
                       std::uint64_t payload_bytes) {
  constexpr std::uint64_t kWords = sample_bit::kAddr | sample_bit::kStreamId;
  std::uint64_t bytes = std::uint64_t{8} * static_cast<unsigned>(std::popcount(bits & kWords));
  if ((bits & sample_bit::kRead) != 0) {
    bytes += fields.read_bytes;
  }
  bytes += payload_bytes - fields.tail_begin;
  if (layout.has(sample_bit::kBranchStack) && (bits & sample_bit::kBranchStack) == 0) {
    bytes -= 8 + 24 * fields.branch_count;
  }
  if (layout.has(sample_bit::kRaw) && (bits & sample_bit::kRaw) == 0) {
    bytes -= 4 + fields.raw.size();
  }
  constexpr std::uint64_t kTailWords = kFieldsWithSample & ~sample_bit::kAddr;
  const std::uint64_t kept_words = layout.sample_type & kTailWords & ~bits;
  bytes -= std::uint64_t{8} * static_cast<unsigned>(std::popcount(kept_words));
  if (layout.has(sample_bit::kRegsUser) && (bits & sample_bit::kRegsUser) == 0) {
    bytes -= fields.dump_bytes;
  }
  return bytes;
}

bool is_multiplexed(const SampleLayout& layout, const SampleFields& fields) {
  bytes::ByteCursor times = fields.counters;
  if (layout.read_group) {
    times = fields.group_times;
  } else {
    times.skip(8);  // value
  }
  const auto enabled = times.read<std::uint64_t>();
  const auto running = times.read<std::uint64_t>();
  return times.ok() && running < enabled;
}

}  // namespace

FieldRow read_kept_fields(bytes::ByteCursor payload, const SampleLayout& layout,
                          const SampleFields& fields) {
  FieldRow row;
  if (layout.has(sample_bit::kAddr)) {
    constexpr std::uint64_t kBefore =
        sample_bit::kIdentifier | sample_bit::kIp | sample_bit::kTid | sample_bit::kTime;
    payload.seek(kWord * static_cast<unsigned>(std::popcount(layout.sample_type & kBefore)));
    row.set(SampleField::kAddress, payload.read<std::uint64_t>());
  }
  payload.seek(fields.weight_begin);
  if (layout.has(sample_bit::kWeight | sample_bit::kWeightStruct)) {
    set_weight(payload.read<std::uint64_t>(), layout.has(sample_bit::kWeightStruct), row);
  }
  for (const auto& [bit, field] :
       {std::pair(sample_bit::kDataSrc, SampleField::kDataSource),
        std::pair(sample_bit::kTransaction, SampleField::kTransaction)}) {
    if (layout.has(bit)) {
      row.set(field, payload.read<std::uint64_t>());
    }
  }
  payload.seek(fields.physical_begin);
  if (layout.has(sample_bit::kPhysAddr)) {
    row.set(SampleField::kPhysicalAddress, payload.read<std::uint64_t>());
  }
  for (const auto& [bit, field] :
       {std::pair(sample_bit::kCgroup, SampleField::kControlGroup),
        std::pair(sample_bit::kDataPageSize, SampleField::kDataPageSize),
        std::pair(sample_bit::kCodePageSize, SampleField::kCodePageSize)}) {
    if (layout.has(bit)) {
      row.set(field, payload.read<std::uint64_t>());
    }
  }
  return row;
}

void FieldTallies::add(const CaptureContext& context, const AttrTable::Row& row,
                       const Record& record, const SampleFields& fields) {
  constexpr std::uint16_t kMiscExactIp = 1U << 14;
  samples_.resize(context.attrs.rows().size());
  Samples& samples = samples_[context.attrs.number_of(row)];
  samples.all.add(1, record.offset);
  if ((record.misc & kMiscExactIp) != 0) {
    samples.exact_ips.add(1, record.offset);
  }
  if ((row.not_kept & extra_bit::kReadTimes) != 0 && is_multiplexed(row.layout, fields)) {
    samples.multiplexed.add(1, record.offset);
  }
  if (!record.compressed) {
    bytes_ += bytes_of(not_kept_of(context, row), row.layout, fields, record.payload.size());
  }
}

void FieldTallies::report(CaptureContext& context) const {
  for (const NotKept& field : kFieldsNotKept) {
    Tally tally;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if ((not_kept_of(context, context.attrs.rows()[i]) & field.number) == 0) {
        continue;
      }
      const Samples& samples = samples_[i];
      const Tally& of_row = field.number == extra_bit::kExactIp     ? samples.exact_ips
                            : field.number == extra_bit::kReadTimes ? samples.multiplexed
                                                                    : samples.all;
      tally.add(of_row.count, of_row.first_offset);
    }
    if (tally.count != 0) {
      context.notice(field.loss, tally.count, tally.first_offset);
    }
  }
  context.move_parsed(bytes_, skip::kFieldsNotKept);
}

}  // namespace stackpack::perf
