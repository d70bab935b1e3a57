#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/convert/memory_plan.h"
#include "app/convert/stack_interner.h"
#include "capture/loss_counters.h"
#include "core/index_table.h"
#include "dag/builder.h"
#include "scratch/spillable_array.h"
#include "spk/write/branch_writer.h"
#include "stackpack/branches.h"
#include "stackpack/model.h"
#include "stackpack/result.h"
#include "stackpack/sample_fields.h"

namespace stackpack::app {

/// Keeps whole branch stacks: each distinct branch gets a number, and stacks are interned as
/// callstacks whose frames are these numbers. The newest branch is the root, since a branch nearly
/// determines the one before it. Cycles are noise of their own, and are interned apart: without
/// them there are few branches and few stacks.
///
/// Use: add() any number of times, write(), settle() any number of times.
/// Memory: `plan` for each of the two interners, `entry_bytes` for distinct branches. A stack with
/// a branch that has no room is left out and counted. Threads: one at a time.
class BranchStackSpool {
 public:
  /// How branches are numbered in the file. By content the file does not show in which order the
  /// stacks came, and each of them is interned a second time.
  enum class Numbering : std::uint8_t { kByArrival, kByContent };

  BranchStackSpool(const std::string& scratch_directory, const MemoryPlan& plan,
                   std::uint64_t entry_bytes, Numbering numbering = Numbering::kByArrival);

  /// Adds a stack, newest first, not empty, and sets fields to numbers for settle(); none when the
  /// stack is left out.
  Status add(std::span<const StackedBranch> stack, FieldRow& fields);

  /// Stacks without room. They make the outcome depend on the memory that was given.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

  /// Parts in which the tree went to disk, the one in memory included.
  [[nodiscard]] std::uint64_t segments() const { return segments_; }

  /// The branches and stacks; nothing when there is none. Once, after the last stack.
  Status write(spk::BranchStackWriter& writer);

  /// After write(): the ids in the file in place of numbers. Errors: kIo.
  Status settle(FieldRow& fields);

 private:
  struct Entry {
    StackedBranch branch;
    std::uint32_t older = core::IndexTable::kNone;  // what came next in a stack
  };

  std::uint32_t number_of(const StackedBranch& branch, std::uint32_t guess);
  bool number_all(std::span<const StackedBranch> stack);
  Result<std::uint64_t> intern(StackInterner& interner);
  Status write_entries(spk::BranchStackWriter& writer);
  Status renumber();
  std::vector<std::uint32_t> put_in_order();
  Result<StackId> id_of(SampleField field, std::uint64_t number);

  /// Stacks whose branches are numbered anew.
  struct Renumbered {
    Renumbered(const std::string& scratch_directory, const dag::Builder::Options& options,
               std::uint64_t page_bytes)
        : stacks(scratch_directory, options), places(scratch_directory, page_bytes) {}

    StackInterner stacks;
    scratch::SpillableArray<std::uint64_t> places;  // by the id of a stack before
    std::unique_ptr<PackedStacks> packed;
  };

  std::string scratch_directory_;
  MemoryPlan plan_;
  Numbering numbering_;
  std::size_t most_entries_;
  StackInterner stacks_;
  StackInterner cycles_;
  bool has_cycles_ = false;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> in_order_;  // of content: the numbers of branches; or empty
  core::IndexTable numbers_;
  std::vector<std::uint64_t> frames_;  // of the stack, the oldest first
  std::vector<NodeRef> nodes_;
  std::uint64_t left_out_ = 0;
  std::uint64_t segments_ = 0;
  std::unique_ptr<PackedStacks> packed_stacks_;
  std::unique_ptr<PackedStacks> packed_cycles_;
  std::unique_ptr<Renumbered> renumbered_;
};

}  // namespace stackpack::app
