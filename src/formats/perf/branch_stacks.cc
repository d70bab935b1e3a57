#include "formats/perf/branch_stacks.h"

#include <array>
#include <cstddef>

namespace stackpack::perf {

namespace {

constexpr std::size_t kEntryWords = 3;
constexpr std::uint64_t kWrongPath = 1;

struct FlagField {
  unsigned at;
  unsigned bits;
};
constexpr FlagField kMispredicted{0, 1};
constexpr FlagField kCycles{4, 16};
constexpr FlagField kType{20, 4};
constexpr FlagField kSpeculation{24, 2};
constexpr FlagField kNewType{26, 4};
constexpr std::array kAllFields{FlagField{0, 1}, FlagField{1, 1}, FlagField{2, 1},
                                FlagField{3, 1}, kCycles,         kType,
                                kSpeculation,    kNewType,        FlagField{30, 3}};

std::uint64_t field_of(std::uint64_t flags, FlagField field, bytes::ByteOrder order) {
  const unsigned shift = order == bytes::ByteOrder::kBig ? 64 - field.at - field.bits : field.at;
  return flags >> shift & ((std::uint64_t{1} << field.bits) - 1);
}

}  // namespace

capture::BranchEntry decode_branch_flags(std::uint64_t flags, bytes::ByteOrder order) {
  capture::BranchEntry entry;
  std::uint64_t type = field_of(flags, kType, order);
  if (type == static_cast<std::uint64_t>(BranchType::kExtended)) {
    type += 16 * field_of(flags, kNewType, order);
  }
  entry.type = static_cast<BranchType>(type);
  entry.mispredicted = field_of(flags, kMispredicted, order) != 0;
  entry.cycles = static_cast<std::uint32_t>(field_of(flags, kCycles, order));
  entry.wrong_path = field_of(flags, kSpeculation, order) == kWrongPath;
  return entry;
}

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

Status BranchStacks::keep(std::span<const std::uint64_t> words, bytes::ByteOrder order) {
  branches_.clear();
  for (std::size_t i = 0; i + kEntryWords <= words.size(); i += kEntryWords) {
    branches_.push_back({words[i], words[i + 1], little_endian_flags(words[i + 2], order)});
  }
  return sink_.add_branch_stack(branches_, kept_);
}

Status BranchStacks::add(const SampleLayout& layout, std::uint32_t event, std::uint64_t offset,
                         const SampleFields& fields) {
  kept_ = {};
  if (recorder_ == nullptr || !has_branch_history(layout.branch_sample_type, layout.sample_type)) {
    return {};
  }
  bytes::ByteCursor in = fields.branches;
  in.read_u64_array(fields.branches.size() / sizeof(std::uint64_t), words_);
  entries_.clear();
  for (std::size_t i = 0; in.ok() && i + kEntryWords <= words_.size(); i += kEntryWords) {
    capture::BranchEntry& entry =
        entries_.emplace_back(decode_branch_flags(words_[i + 2], in.order()));
    entry.from = words_[i];
    entry.to = words_[i + 1];
  }
  if (entries_.empty()) {
    return {};
  }
  const Status added = recorder_->add({event, fields.pid, fields.time, offset}, entries_);
  return added && keeps_ ? keep(words_, in.order()) : added;
}

}  // namespace stackpack::perf
