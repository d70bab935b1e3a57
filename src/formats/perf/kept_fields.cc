#include "formats/perf/kept_fields.h"

#include <bit>
#include <cstddef>
#include <utility>

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

}  // namespace stackpack::perf
