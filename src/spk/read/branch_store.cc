#include "spk/read/branch_store.h"

#include <algorithm>
#include <vector>

#include "spk/format/branch_codec.h"
#include "spk/format/layout.h"
#include "spk/read/dag_store.h"

namespace stackpack::spk {

namespace {

template <typename Row>
Status read_branch_rows(BlockReader& blocks, const Directory& directory, SectionKind kind,
                        std::vector<Row>& rows) {
  const SectionRecord* const section = directory.find(kind);
  if (section == nullptr) {
    return {};
  }
  BlockReader::Lease scratch = blocks.borrow();
  const Status read = for_each_block(blocks, *section, *scratch, [&](const bytes::ByteCursor& in) {
    return decode_branches(in, rows);
  });
  if (!read) {
    return read;
  }
  return rows.size() == section->items
             ? Status{}
             : Status{Error{ErrorCode::kCorrupt, section->offset, "spk: branches: number of rows"}};
}

std::uint64_t items_of(const Directory& directory, SectionKind kind) {
  const SectionRecord* const section = directory.find(kind);
  return section == nullptr ? 0 : section->items;
}

}  // namespace

Result<Branches> read_branches(BlockReader& blocks, const Directory& directory) {
  Branches branches;
  if (const Status read =
          read_branch_rows(blocks, directory, SectionKind::kBranchEdges, branches.edges);
      !read) {
    return read.error();
  }
  if (const Status read =
          read_branch_rows(blocks, directory, SectionKind::kBranchRanges, branches.ranges);
      !read) {
    return read.error();
  }
  const std::uint64_t events = items_of(directory, SectionKind::kEvents);
  const std::uint64_t modules = items_of(directory, SectionKind::kModules);
  const auto has_image = [modules](std::uint32_t image) {
    return image == kNoImage || image < modules;
  };
  const bool good =
      std::all_of(branches.edges.begin(), branches.edges.end(),
                  [&](const BranchEdge& row) {
                    return row.event < events && has_image(row.from_image) &&
                           has_image(row.to_image);
                  }) &&
      std::all_of(branches.ranges.begin(), branches.ranges.end(), [&](const BranchRange& row) {
        return row.event < events && row.image < modules;
      });
  if (!good) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "spk: branches: a row that is not there"};
  }
  return branches;
}

}  // namespace stackpack::spk
