#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spk/format/column_codec.h"
#include "spk/write/block_rows.h"
#include "spk/write/dag_node.h"
#include "spk/write/dag_writer.h"
#include "spk/write/section_writer.h"
#include "stackpack/branches.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Writes the sections of branches. Order of calls: all edges in their order, all ranges in theirs,
/// end(). A section without rows is not written.
/// Memory: a block of rows. Errors: those of the output.
class BranchWriter {
 public:
  explicit BranchWriter(SectionWriter& out) : out_(out) {}

  Status add(const BranchEdge& row);
  Status add(const BranchRange& row);
  Status end();

 private:
  template <typename Row>
  Status add_to(std::vector<Row>& rows, std::uint64_t& total, Row& last, SectionKind kind,
                const Row& row);
  template <typename Row>
  Status flush(std::vector<Row>& rows);
  template <typename Row>
  Status close(std::vector<Row>& rows, std::uint64_t& total);

  SectionWriter& out_;
  BlockContent content_;
  std::vector<BranchEdge> edge_rows_;
  std::vector<BranchRange> range_rows_;
  std::uint64_t edges_ = 0;  // of the section that is open; 0: it is not
  std::uint64_t ranges_ = 0;
  BranchEdge last_edge_;
  BranchRange last_range_;
};

/// How many there are of what samples name.
struct BranchStackCounts {
  std::uint64_t stacks = 0;
  std::uint64_t cycles = 0;
};

/// Writes the sections of branch stacks: a DAG whose roots are the newest branches, and whose
/// frames are numbers of branches; and one alike of the cycles between them.
///
/// Order of calls: add_entry() with the branches in the order of their frames, then those of
/// Writer for callstacks. The addresses of frames do not matter, their order does. Then, where
/// there are cycles, begin_cycles() and the same calls, with cycles as addresses of frames. Memory:
/// as Writer for callstacks. Errors: those of the output file, kLimit, kUsage.
class BranchStackWriter {
 public:
  BranchStackWriter(SectionWriter& out, std::string scratch_directory, std::uint64_t table_bytes)
      : out_(out),
        scratch_directory_(std::move(scratch_directory)),
        table_bytes_(table_bytes),
        entries_(out, SectionKind::kBranchEntries, kBranchEntriesPerBlock) {
    dag_.emplace(out, kBranchStackSections, scratch_directory_, table_bytes, false);
  }

  Status add_entry(const StackedBranch& entry);
  /// What follows is the DAG of cycles.
  void begin_cycles() {
    of_cycles_ = true;
    dag_.emplace(out_, kCycleSections, scratch_directory_, table_bytes_, false);
  }

  Status begin_dag();
  Status add_frames(std::span<const Frame> frames) { return dag_->add_frames(frames); }
  Status survey_nodes(std::span<const DagNode> nodes) { return dag_->survey(nodes); }
  Status begin_pages() { return dag_->begin_pages(); }
  Status add_nodes(std::span<const DagNode> nodes) { return dag_->add(nodes); }
  Status end_dag() {
    const Status ended = dag_->end();
    if (ended) {
      (of_cycles_ ? counts_.cycles : counts_.stacks) = dag_->stack_count();
    }
    return ended;
  }
  [[nodiscard]] const BranchStackCounts& counts() const { return counts_; }

 private:
  SectionWriter& out_;
  std::string scratch_directory_;
  std::uint64_t table_bytes_;
  BlockRows<StackedBranch> entries_;
  std::optional<DagWriter> dag_;
  bool of_cycles_ = false;
  BranchStackCounts counts_;
};

}  // namespace stackpack::spk
