#include "app/convert/branch_stack_spool.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "capture/stack_view.h"
#include "spk/format/layout.h"
#include "stackpack/model.h"

namespace stackpack::app {

namespace {

// With two tables while one grows, and what a vector takes to grow.
constexpr std::uint64_t kBytesOfEntry = 128;
constexpr std::size_t kLeastEntries = 4096;

std::uint64_t hash_of(const StackedBranch& branch) {
  return core::spread_bits(branch.from ^ std::rotl(branch.to, 23) ^ std::rotl(branch.flags, 47));
}

std::uint64_t number_of_node(const NodeRef& node) {
  return std::uint64_t{node.segment} << 32U | node.node;
}

}  // namespace

BranchStackSpool::BranchStackSpool(const std::string& scratch_directory, const MemoryPlan& plan,
                                   std::uint64_t entry_bytes)
    : plan_(plan),
      most_entries_(std::clamp(static_cast<std::size_t>(entry_bytes / kBytesOfEntry), kLeastEntries,
                               static_cast<std::size_t>(spk::kMaxFrames))),
      stacks_(scratch_directory, {plan.builder_bytes, plan.cache_bytes}),
      cycles_(scratch_directory, {plan.builder_bytes, plan.cache_bytes}) {}

// The number of a branch, which is added when it is new; kNone when there is no room.
std::uint32_t BranchStackSpool::number_of(const StackedBranch& branch, std::uint32_t guess) {
  if (guess != core::IndexTable::kNone && entries_[guess].branch == branch) [[likely]] {
    return guess;
  }
  const auto matches = [&](std::uint32_t index) { return entries_[index].branch == branch; };
  const std::uint64_t hash = hash_of(branch);
  if (entries_.size() == most_entries_) {
    return numbers_.find(hash, matches);
  }
  const auto fresh = static_cast<std::uint32_t>(entries_.size());
  const std::uint32_t number = numbers_.find_or_insert(
      hash, fresh, matches, [&](std::uint32_t index) { return hash_of(entries_[index].branch); });
  if (number == fresh) {
    entries_.push_back({branch});
  }
  return number;
}

// Fills frames_ with the numbers of branches without cycles. False: one has no room.
bool BranchStackSpool::number_all(std::span<const StackedBranch> stack) {
  frames_.resize(stack.size());
  std::uint32_t newer = core::IndexTable::kNone;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const bool first = newer == core::IndexTable::kNone;
    StackedBranch branch = stack[i];
    branch.flags &= ~kBranchCyclesMask;
    const std::uint32_t number =
        number_of(branch, first ? core::IndexTable::kNone : entries_[newer].older);
    if (number == core::IndexTable::kNone) {
      return false;
    }
    if (!first) {
      entries_[newer].older = number;
    }
    frames_[stack.size() - 1 - i] = number;
    newer = number;
  }
  return true;
}

// The number of the stack in frames_.
Result<std::uint64_t> BranchStackSpool::intern(StackInterner& interner) {
  const capture::ModeRun run{FrameMode::kUnknown, static_cast<std::uint32_t>(frames_.size())};
  const dag::Builder::Arrival arrival{{frames_, std::span(&run, 1)}, 0};
  const Status interned = interner.intern(std::span(&arrival, 1), nodes_);
  return interned ? Result<std::uint64_t>(number_of_node(nodes_.front()))
                  : Result<std::uint64_t>(interned.error());
}

Status BranchStackSpool::add(std::span<const StackedBranch> stack, FieldRow& fields) {
  if (!number_all(stack)) {
    ++left_out_;
    return {};
  }
  const Result<std::uint64_t> branches = intern(stacks_);
  if (!branches) {
    return branches.error();
  }
  fields.set(SampleField::kBranchStack, *branches);
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const std::uint64_t cycles = (stack[i].flags & kBranchCyclesMask) >> kBranchCyclesShift;
    frames_[stack.size() - 1 - i] = cycles;
    any |= cycles;
  }
  if (any == 0) {
    return {};
  }
  has_cycles_ = true;
  const Result<std::uint64_t> cycles = intern(cycles_);
  if (!cycles) {
    return cycles.error();
  }
  fields.set(SampleField::kBranchCycles, *cycles);
  return {};
}

// Numbers of branches that no stack has, since it was left out, are not in the file.
Status BranchStackSpool::write_entries(spk::BranchStackWriter& writer) {
  Status added = packed_stacks_->for_each_frame_block([&](std::span<const Frame> frames) {
    for (const Frame& frame : frames) {
      const Status row = writer.add_entry(entries_[static_cast<std::size_t>(frame.address)].branch);
      if (!row) {
        return row;
      }
    }
    return Status{};
  });
  entries_ = {};
  return added;
}

Status BranchStackSpool::write(spk::BranchStackWriter& writer) {
  if (entries_.empty()) {
    return {};
  }
  numbers_.release();
  segments_ = stacks_.segments();
  Result<std::unique_ptr<PackedStacks>> stacks = stacks_.pack(plan_);
  if (!stacks) {
    return stacks.error();
  }
  packed_stacks_ = std::move(*stacks);
  Status written = write_entries(writer);
  written = written ? packed_stacks_->write(writer) : written;
  if (!written || !has_cycles_) {
    return written;
  }
  Result<std::unique_ptr<PackedStacks>> cycles = cycles_.pack(plan_);
  if (!cycles) {
    return cycles.error();
  }
  packed_cycles_ = std::move(*cycles);
  writer.begin_cycles();
  return packed_cycles_->write(writer);
}

Status BranchStackSpool::settle(FieldRow& fields) {
  for (const auto& [field, packed] :
       {std::pair(SampleField::kBranchStack, packed_stacks_.get()),
        std::pair(SampleField::kBranchCycles, packed_cycles_.get())}) {
    if (!fields.has(field)) {
      continue;
    }
    if (packed == nullptr) {
      return Error{ErrorCode::kCorrupt, kNoOffset, "a branch stack that is not there"};
    }
    const std::uint64_t number = fields.value(field);
    const Result<StackId> id = packed->id_of(
        {static_cast<std::uint16_t>(number >> 32U), 0, static_cast<std::uint32_t>(number)});
    if (!id) {
      return id.error();
    }
    fields.set(field, *id);
  }
  return {};
}

}  // namespace stackpack::app
