#pragma once

#include <cstdint>
#include <vector>

#include "spk/format/column_codec.h"
#include "spk/write/section_writer.h"
#include "stackpack/branches.h"
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
  Status add_to(std::vector<Row>& rows, std::uint64_t& total, SectionKind kind, const Row& row);
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
};

}  // namespace stackpack::spk
