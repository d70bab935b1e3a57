#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "spk/format/directory.h"
#include "spk/read/block_reader.h"
#include "spk/read/dag_store.h"
#include "stackpack/branches.h"
#include "stackpack/result.h"
#include "stackpack/sample_fields.h"

namespace stackpack::spk {

/// The branch stacks of an open file; it may have none. Loaded at first use.
/// Threads: any number.
class BranchStackStore {
 public:
  BranchStackStore(BlockReader& blocks, const Directory& directory, std::uint64_t cache_bytes)
      : blocks_(blocks),
        directory_(directory),
        dag_(blocks, directory, kBranchStackSections, cache_bytes),
        cycles_(blocks, directory, kCycleSections, cache_bytes) {}

  [[nodiscard]] bool empty() const {
    return directory_.find(SectionKind::kBranchEntries) == nullptr;
  }
  [[nodiscard]] bool has_cycles() const {
    return directory_.find(SectionKind::kCycleValues) != nullptr;
  }

  /// Loads the tables unless they are there. Errors: kIo, kCorrupt; a failure is tried again.
  Status load();

  // Once loaded:
  [[nodiscard]] std::uint64_t stack_count() const { return empty() ? 0 : dag_.stack_count(); }
  /// The branches of a sample with these fields, newest first, into `branches` (replaced). Errors:
  /// kIo, kCorrupt, also when there is none.
  Status read(const FieldRow& fields, std::vector<StackedBranch>& branches);
  /// Only when this is not empty.
  [[nodiscard]] DagStore& dag() { return dag_; }
  /// Only when this has cycles.
  [[nodiscard]] DagStore& cycles() { return cycles_; }

 private:
  Status add_cycles(std::uint64_t id, std::vector<StackedBranch>& branches);
  Status load_entries();

  BlockReader& blocks_;
  const Directory& directory_;
  std::mutex mutex_;
  std::atomic<bool> loaded_{false};
  std::vector<StackedBranch> entries_;
  DagStore dag_;
  DagStore cycles_;
};

/// Reads the sections of branches; what is not there has no rows. Errors: kIo, kCorrupt: rows out
/// of order, counts that cannot be, an event or module that is not there.
Result<Branches> read_branches(BlockReader& blocks, const Directory& directory);

}  // namespace stackpack::spk
