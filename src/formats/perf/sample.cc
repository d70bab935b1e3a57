#include "formats/perf/sample.h"

#include <bit>

namespace stackpack::perf {

namespace {

constexpr std::uint64_t kWordBytes = 8;

bool set(std::uint64_t bits, std::uint64_t bit) {
  return (bits & bit) != 0;
}

void skip_words(bytes::ByteCursor& in, std::uint64_t words) {
  std::uint64_t bytes = 0;
  in.skip(bytes::checked_mul(words, kWordBytes, bytes) ? bytes : ~std::uint64_t{0});
}

bytes::ByteCursor take_words(bytes::ByteCursor& in, std::uint64_t words) {
  std::uint64_t bytes = 0;
  return in.sub(bytes::checked_mul(words, kWordBytes, bytes) ? bytes : ~std::uint64_t{0});
}

void read_counters(bytes::ByteCursor& in, const SampleLayout& layout, SampleFields& fields) {
  if (!layout.read_group) {
    fields.counter_count = 1;
    fields.counters = take_words(in, layout.read_fixed_words);
    return;
  }
  fields.counter_count = in.read<std::uint64_t>();
  fields.group_times = take_words(in, layout.read_fixed_words);
  std::uint64_t words = 0;
  const bool fits = bytes::checked_mul(fields.counter_count, layout.read_value_words, words);
  fields.counters = take_words(in, fits ? words : ~std::uint64_t{0});
}

// `empty_has_index`: whether an empty branch stack has a hardware index all the same. The kernel
// leaves it out, and the perf tool's own samples have it: the caller tries both.
void read_branches(bytes::ByteCursor& in, const SampleLayout& layout, bool empty_has_index,
                   SampleFields& fields) {
  fields.branch_count = in.read<std::uint64_t>();
  const bool has_index = set(layout.branch_sample_type, branch_bit::kHwIndex);
  if (has_index && (fields.branch_count != 0 || empty_has_index)) {
    skip_words(in, 1);
  }
  std::uint64_t words = 0;
  fields.branches =
      take_words(in, bytes::checked_mul(fields.branch_count, 3, words) ? words : ~std::uint64_t{0});
  if (set(layout.branch_sample_type, branch_bit::kCounters)) {
    skip_words(in, fields.branch_count);
  }
}

void read_dump(bytes::ByteCursor& in, const SampleLayout& layout, UserStackDump& dump) {
  if (layout.has(sample_bit::kRegsUser)) {
    dump.abi = in.read<std::uint64_t>();
    dump.register_mask = layout.user_register_mask;
    dump.registers = take_words(in, dump.abi != 0 ? layout.user_registers : 0);
  }
  if (layout.has(sample_bit::kStackUser)) {
    const auto size = in.read<std::uint64_t>();
    if (size != 0) {  // a size of 0 is not followed by the number of bytes used
      dump.begin = in.position();
      const std::span<const std::byte> memory = in.read_bytes(size);
      dump.end = in.position();
      const auto used = in.read<std::uint64_t>();
      dump.filled = used >= memory.size();
      dump.stack = used < memory.size() ? memory.first(static_cast<std::size_t>(used)) : memory;
    }
  }
}

void read_tail(bytes::ByteCursor& in, const SampleLayout& layout, bool empty_has_index,
               SampleFields& fields) {
  if (layout.has(sample_bit::kRaw)) {
    fields.raw = in.sub(in.read<std::uint32_t>());
  }
  if (layout.has(sample_bit::kBranchStack)) {
    read_branches(in, layout, empty_has_index, fields);
  }
  const std::size_t dump_begin = in.position();
  read_dump(in, layout, fields.dump);
  fields.dump_bytes = in.position() - dump_begin;
  fields.weight_begin = static_cast<std::uint32_t>(in.position());
  // WEIGHT and WEIGHT_STRUCT are two readings of one field.
  const bool weight = layout.has(sample_bit::kWeight | sample_bit::kWeightStruct);
  skip_words(in, (weight ? 1U : 0U) + (layout.has(sample_bit::kDataSrc) ? 1U : 0U) +
                     (layout.has(sample_bit::kTransaction) ? 1U : 0U));
  if (layout.has(sample_bit::kRegsIntr) && in.read<std::uint64_t>() != 0) {
    skip_words(in, layout.interrupt_registers);
  }
  fields.physical_begin = static_cast<std::uint32_t>(in.position());
  constexpr std::uint64_t kLastWords = sample_bit::kPhysAddr | sample_bit::kCgroup |
                                       sample_bit::kDataPageSize | sample_bit::kCodePageSize;
  skip_words(in, static_cast<unsigned>(std::popcount(layout.sample_type & kLastWords)));
  if (layout.has(sample_bit::kAux)) {
    in.skip(in.read<std::uint64_t>());
  }
}

SampleFit fit_of(const bytes::ByteCursor& in) {
  if (!in.ok()) {
    return SampleFit::kOverrun;
  }
  return in.remaining() == 0 ? SampleFit::kExact : SampleFit::kSlack;
}

void read_fixed_fields(bytes::ByteCursor& in, const SampleLayout& layout, SampleFields& fields) {
  if (layout.has(sample_bit::kIdentifier)) {
    in.skip(8);
  }
  if (layout.has(sample_bit::kIp)) {
    fields.ip = in.read<std::uint64_t>();
  }
  if (layout.has(sample_bit::kTid)) {
    fields.pid = in.read<std::uint32_t>();
    fields.tid = in.read<std::uint32_t>();
  }
  if (layout.has(sample_bit::kTime)) {
    fields.time = in.read<std::uint64_t>();
  }
  constexpr std::uint64_t kIds = sample_bit::kAddr | sample_bit::kId | sample_bit::kStreamId;
  if (layout.has(kIds)) {
    skip_words(in, static_cast<unsigned>(std::popcount(layout.sample_type & kIds)));
  }
  if (layout.has(sample_bit::kCpu)) {
    fields.cpu = in.read<std::uint32_t>();
    in.skip(4);  // reserved
  }
  if (layout.has(sample_bit::kPeriod)) {
    fields.period = in.read<std::uint64_t>();
  }
}

}  // namespace

SampleLayout layout_of(const Attr& attr) {
  SampleLayout layout;
  layout.sample_type = attr.sample_type;
  const std::uint64_t format = attr.read_format;
  const auto times = static_cast<unsigned>(
      std::popcount(format & (read_bit::kTimeEnabled | read_bit::kTimeRunning)));
  const auto value =
      1U + static_cast<unsigned>(std::popcount(format & (read_bit::kId | read_bit::kLost)));
  layout.read_group = set(format, read_bit::kGroup);
  layout.read_fixed_words = layout.read_group ? times : times + value;
  layout.read_value_words = layout.read_group ? value : 0;
  layout.read_time_words = times;
  layout.reads_counters = attr.reads_counters();
  layout.read_lost = set(format, read_bit::kLost);
  layout.counts_by_thread = attr.has_flag(attr_flag::kInherit) && attr.samples(sample_bit::kTid);
  layout.branch_sample_type = attr.branch_sample_type;
  layout.user_register_mask = attr.sample_regs_user;
  layout.user_registers = static_cast<unsigned>(std::popcount(attr.sample_regs_user));
  layout.interrupt_registers = static_cast<unsigned>(std::popcount(attr.sample_regs_intr));
  layout.excludes_user_chain = attr.has_flag(attr_flag::kExcludeCallchainUser);
  layout.is_precise = attr.precise_ip != 0;
  layout.ip_may_be_apart = layout.is_precise || attr.has_flag(attr_flag::kExcludeCallchainKernel);
  return layout;
}

SampleFit read_sample(const bytes::ByteCursor& payload, const SampleLayout& layout,
                      SampleFields& fields) {
  // Not a copy, which would wait until the payload's members are out of the processor.
  bytes::ByteCursor in(payload.rest(), payload.offset(), payload.order());
  fields = SampleFields{};
  read_fixed_fields(in, layout, fields);
  if (layout.has(sample_bit::kRead)) {
    const std::size_t begin = in.position();
    read_counters(in, layout, fields);
    fields.read_bytes = in.position() - begin;
  }
  if (layout.has(sample_bit::kCallchain)) {
    fields.chain_entries = in.read<std::uint64_t>();
    fields.chain = take_words(in, fields.chain_entries);
  }
  constexpr std::uint64_t kUpToChain =
      sample_bit::kIdentifier | sample_bit::kIp | sample_bit::kTid | sample_bit::kTime |
      sample_bit::kAddr | sample_bit::kId | sample_bit::kStreamId | sample_bit::kCpu |
      sample_bit::kPeriod | sample_bit::kRead | sample_bit::kCallchain;
  fields.tail_begin = in.position();
  if ((layout.sample_type & ~kUpToChain) == 0) {
    return fit_of(in);
  }
  const bytes::ByteCursor tail = in;
  read_tail(in, layout, false, fields);
  if (fit_of(in) != SampleFit::kExact && layout.has(sample_bit::kBranchStack) &&
      set(layout.branch_sample_type, branch_bit::kHwIndex) && fields.branch_count == 0) {
    bytes::ByteCursor other = tail;
    fields.dump = {};
    read_tail(other, layout, true, fields);
    if (fit_of(other) != SampleFit::kExact) {
      fields.dump = {};
      other = tail;
      read_tail(other, layout, false, fields);
    }
    return fit_of(other);
  }
  return fit_of(in);
}

}  // namespace stackpack::perf
