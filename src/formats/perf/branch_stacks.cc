#include "formats/perf/branch_stacks.h"

#include <array>

namespace stackpack::perf {

namespace {

struct FlagField {
  unsigned at;
  unsigned bits;
};
// Mispredicted, predicted, in a transaction, abort, cycles, type, speculation, the second list,
// privilege.
constexpr std::array kAllFields{FlagField{0, 1},  FlagField{1, 1},  FlagField{2, 1},
                                FlagField{3, 1},  FlagField{4, 16}, FlagField{20, 4},
                                FlagField{24, 2}, FlagField{26, 4}, FlagField{30, 3}};

std::uint64_t field_of(std::uint64_t flags, FlagField field, bytes::ByteOrder order) {
  const unsigned shift = order == bytes::ByteOrder::kBig ? 64 - field.at - field.bits : field.at;
  return flags >> shift & ((std::uint64_t{1} << field.bits) - 1);
}

}  // namespace

std::uint64_t little_endian_flags(std::uint64_t flags, bytes::ByteOrder order) {
  if (order == bytes::ByteOrder::kLittle) {
    return flags;
  }
  std::uint64_t all = 0;
  for (const FlagField field : kAllFields) {
    all |= field_of(flags, field, order) << field.at;
  }
  return all;
}

Status BranchStacks::add(const SampleLayout& layout, std::uint32_t event, std::uint64_t offset,
                         const SampleFields& fields) {
  kept_ = {};
  if (recorder_ == nullptr || !has_branch_history(layout.branch_sample_type, layout.sample_type)) {
    return {};
  }
  bytes::ByteCursor in = fields.branches;
  in.read_rows(fields.branches.size() / sizeof(StackedBranch), branches_);
  if (!in.ok() || branches_.empty()) {
    return {};
  }
  if (in.order() == bytes::ByteOrder::kBig) {
    for (StackedBranch& branch : branches_) {
      branch.flags = little_endian_flags(branch.flags, in.order());
    }
  }
  const Status added = recorder_->add({event, fields.pid, fields.time, offset}, branches_);
  return added && keeps_ ? sink_.add_branch_stack(branches_, kept_) : added;
}

}  // namespace stackpack::perf
