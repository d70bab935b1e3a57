#include "spk/write/branch_writer.h"

#include "spk/format/branch_codec.h"
#include "spk/format/layout.h"

namespace stackpack::spk {

template <typename Row>
Status BranchWriter::flush(std::vector<Row>& rows) {
  if (rows.empty()) {
    return {};
  }
  content_.clear();
  encode_branches(std::span<const Row>(rows), content_);
  rows.clear();
  const Result<BlockRecord> record = out_.add_block(content_);
  return record ? Status{} : Status{record.error()};
}

template <typename Row>
Status BranchWriter::add_to(std::vector<Row>& rows, std::uint64_t& total, Row& last,
                            SectionKind kind, const Row& row) {
  if (!may_follow(row, total == 0 ? nullptr : &last)) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: branches are not in order"};
  }
  if (total++ == 0) {
    out_.begin_section(kind);
  }
  last = row;
  rows.push_back(row);
  return rows.size() == kRowsPerTableBlock ? flush(rows) : Status{};
}

template <typename Row>
Status BranchWriter::close(std::vector<Row>& rows, std::uint64_t& total) {
  if (const Status flushed = flush(rows); !flushed || total == 0) {
    return flushed;
  }
  out_.end_section(total);
  total = 0;
  return {};
}

Status BranchWriter::add(const BranchEdge& row) {
  return add_to(edge_rows_, edges_, last_edge_, SectionKind::kBranchEdges, row);
}

Status BranchWriter::add(const BranchRange& row) {
  if (const Status closed = close(edge_rows_, edges_); !closed) {
    return closed;
  }
  return add_to(range_rows_, ranges_, last_range_, SectionKind::kBranchRanges, row);
}

Status BranchWriter::end() {
  const Status edges = close(edge_rows_, edges_);
  return edges ? close(range_rows_, ranges_) : edges;
}

Status BranchStackWriter::add_entry(const StackedBranch& entry) {
  return entries_.add(entry, encode_branch_entries);
}

Status BranchStackWriter::begin_dag() {
  const Status ended = of_cycles_ ? Status{} : entries_.end(encode_branch_entries);
  return ended ? dag_->begin() : ended;
}

}  // namespace stackpack::spk
