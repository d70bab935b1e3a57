#include "app/convert/branch_stack_spool.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

#include "capture/stack_view.h"
#include "core/sort_rows.h"
#include "spk/format/layout.h"
#include "spk/write/dag_node.h"
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

NodeRef node_of_number(std::uint64_t number) {
  return {static_cast<std::uint16_t>(number >> 32U), 0, static_cast<std::uint32_t>(number)};
}

// Two interners of callstacks are there when branches are numbered anew.
MemoryPlan plan_of(MemoryPlan plan, BranchStackSpool::Numbering numbering) {
  if (numbering == BranchStackSpool::Numbering::kByContent) {
    constexpr std::uint64_t kLeastBuilder = std::uint64_t{3} << 20;  // it has tables of fixed sizes
    plan.builder_bytes =
        std::max(plan.builder_bytes / 2, std::min(plan.builder_bytes, kLeastBuilder));
  }
  return plan;
}

Status take_packed(Result<std::unique_ptr<PackedStacks>> packed,
                   std::unique_ptr<PackedStacks>& taken) {
  if (!packed) {
    return packed.error();
  }
  taken = std::move(*packed);
  return {};
}

bool is_before(const StackedBranch& a, const StackedBranch& b) {
  return std::tie(a.from, a.to, a.flags) < std::tie(b.from, b.to, b.flags);
}

}  // namespace

BranchStackSpool::BranchStackSpool(const std::string& scratch_directory, const MemoryPlan& plan,
                                   std::uint64_t entry_bytes, Numbering numbering)
    : scratch_directory_(scratch_directory),
      plan_(plan_of(plan, numbering)),
      numbering_(numbering),
      most_entries_(std::clamp(static_cast<std::size_t>(entry_bytes / kBytesOfEntry), kLeastEntries,
                               static_cast<std::size_t>(spk::kMaxFrames))),
      stacks_(scratch_directory, {plan_.builder_bytes, plan.cache_bytes}),
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

// Orders the branches of in_order_ by what they are; returns by place before the place after.
std::vector<std::uint32_t> BranchStackSpool::put_in_order() {
  std::vector<std::uint32_t> places(in_order_.size());
  std::iota(places.begin(), places.end(), 0U);
  const auto branch_at = [this](std::uint32_t place) { return entries_[in_order_[place]].branch; };
  core::sort_rows(places, [&](std::uint32_t a, std::uint32_t b) {
    return is_before(branch_at(a), branch_at(b));
  });
  std::vector<std::uint32_t> ranks(places.size());
  std::vector<std::uint32_t> numbers(places.size());
  for (std::uint32_t rank = 0; rank < places.size(); ++rank) {
    ranks[places[rank]] = rank;
    numbers[rank] = in_order_[places[rank]];
  }
  in_order_ = std::move(numbers);
  return ranks;
}

// Interns all stacks once more, with numbers of branches that follow from what they are.
Status BranchStackSpool::renumber() {
  const Status listed = packed_stacks_->for_each_frame_block([this](std::span<const Frame> frames) {
    for (const Frame& frame : frames) {
      in_order_.push_back(static_cast<std::uint32_t>(frame.address));
    }
    return Status{};
  });
  if (!listed) {
    return listed;
  }
  const std::vector<std::uint32_t> ranks = put_in_order();
  renumbered_ = std::make_unique<Renumbered>(
      scratch_directory_, dag::Builder::Options{plan_.builder_bytes, plan_.cache_bytes},
      plan_.limit == 0 ? 0 : plan_.id_bytes);
  std::vector<std::uint64_t> path;
  std::uint64_t stacks = 0;
  const auto intern_again = [&](const spk::DagNode& node) -> Status {
    path.resize(node.depth - std::size_t{1});
    path.push_back(ranks[node.frame]);
    if (!node.ends_stack) {
      return {};
    }
    frames_.assign(path.rbegin(), path.rend());
    const Result<std::uint64_t> place = intern(renumbered_->stacks);
    return place ? renumbered_->places.append(stacks++, *place) : Status(place.error());
  };
  const Status interned = packed_stacks_->for_each_block([&](std::span<const spk::DagNode> nodes) {
    Status status;
    for (std::size_t i = 0; status && i < nodes.size(); ++i) {
      status = intern_again(nodes[i]);
    }
    return status;
  });
  return interned ? take_packed(renumbered_->stacks.pack(plan_), renumbered_->packed) : interned;
}

// Numbers of branches that no stack has, since it was left out, are not in the file.
Status BranchStackSpool::write_entries(spk::BranchStackWriter& writer) {
  const PackedStacks& stacks = renumbered_ ? *renumbered_->packed : *packed_stacks_;
  Status added = stacks.for_each_frame_block([&](std::span<const Frame> frames) {
    for (const Frame& frame : frames) {
      const auto number = static_cast<std::size_t>(frame.address);
      const Status row =
          writer.add_entry(entries_[in_order_.empty() ? number : in_order_[number]].branch);
      if (!row) {
        return row;
      }
    }
    return Status{};
  });
  entries_ = {};
  in_order_ = {};
  return added;
}

Status BranchStackSpool::write(spk::BranchStackWriter& writer) {
  if (entries_.empty()) {
    return {};
  }
  numbers_.release();
  segments_ = stacks_.segments();
  Status written = take_packed(stacks_.pack(plan_), packed_stacks_);
  written = written && numbering_ == Numbering::kByContent ? renumber() : written;
  written = written ? write_entries(writer) : written;
  written =
      written ? (renumbered_ ? *renumbered_->packed : *packed_stacks_).write(writer) : written;
  if (!written || !has_cycles_) {
    return written;
  }
  if (const Status packed = take_packed(cycles_.pack(plan_), packed_cycles_); !packed) {
    return packed;
  }
  writer.begin_cycles();
  return packed_cycles_->write(writer);
}

Result<StackId> BranchStackSpool::id_of(SampleField field, std::uint64_t number) {
  PackedStacks* const packed =
      field == SampleField::kBranchStack ? packed_stacks_.get() : packed_cycles_.get();
  if (packed == nullptr) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "a branch stack that is not there"};
  }
  const Result<StackId> id = packed->id_of(node_of_number(number));
  if (!id || field != SampleField::kBranchStack || !renumbered_) {
    return id;
  }
  const Result<std::uint64_t> place = renumbered_->places.get(*id);
  return place ? renumbered_->packed->id_of(node_of_number(*place))
               : Result<StackId>(place.error());
}

Status BranchStackSpool::settle(FieldRow& fields) {
  for (const SampleField field : {SampleField::kBranchStack, SampleField::kBranchCycles}) {
    if (!fields.has(field)) {
      continue;
    }
    const Result<StackId> id = id_of(field, fields.value(field));
    if (!id) {
      return id.error();
    }
    fields.set(field, *id);
  }
  return {};
}

}  // namespace stackpack::app
