#include "spk/read/branch_stack_store.h"

#include <algorithm>
#include <vector>

#include "spk/format/branch_codec.h"
#include "spk/format/layout.h"
#include "spk/read/dag_store.h"

namespace stackpack::spk {

namespace {

Error no_such_stack() {
  return {ErrorCode::kCorrupt, kNoOffset, "spk: a sample has a branch stack that is not there"};
}

Status read_stack(DagStore& dag, std::uint64_t id, std::vector<Frame>& frames) {
  const std::uint64_t page = dag.page_of(id);
  const std::uint64_t first = dag.pages()[static_cast<std::size_t>(page)].first_stack;
  return dag.read_stack(page, static_cast<std::uint32_t>(id - first), frames);
}

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

Status BranchStackStore::load() {
  if (empty() || loaded_.load(std::memory_order_acquire)) {
    return {};
  }
  const std::lock_guard lock(mutex_);
  if (loaded_.load(std::memory_order_relaxed)) {
    return {};
  }
  if (const Status entries = load_entries(); !entries) {
    return entries;
  }
  if (const Status loaded = dag_.load(); !loaded) {
    return loaded;
  }
  if (has_cycles()) {
    if (const Status loaded = cycles_.load(); !loaded) {
      return loaded;
    }
  }
  loaded_.store(true, std::memory_order_release);
  return {};
}

// Before the DAG, whose dictionary is as long as the directory says: a length without rows behind
// it is found out here.
Status BranchStackStore::load_entries() {
  const SectionRecord& section = *directory_.find(SectionKind::kBranchEntries);
  entries_.clear();
  BlockReader::Lease scratch = blocks_.borrow();
  const Status read =
      for_each_block(blocks_, section, *scratch, [&](const bytes::ByteCursor& in) -> Status {
        if (entries_.size() > kMaxFrames) {
          return in.corrupt("spk: branch entries: too many");
        }
        return decode_branch_entries(in, entries_);
      });
  if (!read) {
    return read;
  }
  return entries_.size() == section.items ? Status{}
                                          : Status{Error{ErrorCode::kCorrupt, section.offset,
                                                         "spk: branch entries: number of rows"}};
}

Status BranchStackStore::read(const FieldRow& fields, std::vector<StackedBranch>& branches) {
  branches.clear();
  if (!fields.has(SampleField::kBranchStack)) {
    return {};
  }
  const std::uint64_t id = fields.value(SampleField::kBranchStack);
  if (id >= stack_count()) {
    return no_such_stack();
  }
  std::vector<Frame> frames;
  if (const Status read = read_stack(dag_, id, frames); !read) {
    return read;
  }
  // The oldest comes first: it is the leaf.
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    branches.push_back(entries_[static_cast<std::size_t>(frame->address)]);
  }
  return fields.has(SampleField::kBranchCycles)
             ? add_cycles(fields.value(SampleField::kBranchCycles), branches)
             : Status{};
}

Status BranchStackStore::add_cycles(std::uint64_t id, std::vector<StackedBranch>& branches) {
  if (!has_cycles() || id >= cycles_.stack_count()) {
    return no_such_stack();
  }
  std::vector<Frame> frames;
  if (const Status read = read_stack(cycles_, id, frames); !read) {
    return read;
  }
  if (frames.size() != branches.size()) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "spk: branch stack with other cycles"};
  }
  auto branch = branches.begin();
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame, ++branch) {
    if (frame->address > kBranchCyclesMask >> kBranchCyclesShift) {
      return Error{ErrorCode::kCorrupt, kNoOffset, "spk: cycles of a branch"};
    }
    branch->flags |= frame->address << kBranchCyclesShift;
  }
  return {};
}

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
