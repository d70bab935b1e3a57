#include "spk/read/stored_blocks.h"

#include <array>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/block_index.h"
#include "spk/format/layout.h"
#include "spk/read/dag_store.h"

namespace stackpack::spk {

namespace {

struct IndexedSection {
  SectionKind blocks;
  SectionKind index;
};

constexpr std::array kIndexed{
    IndexedSection{SectionKind::kPages, SectionKind::kPageIndex},
    IndexedSection{SectionKind::kSamples, SectionKind::kSampleIndex},
    IndexedSection{SectionKind::kBranchPages, SectionKind::kBranchPageIndex},
    IndexedSection{SectionKind::kCyclePages, SectionKind::kCyclePageIndex}};

// Appends the blocks that an index block lists, in the order of the file.
Status decode_index(SectionKind index, const bytes::ByteCursor& in,
                    std::vector<BlockRecord>& records) {
  if (index == SectionKind::kSampleIndex) {
    std::vector<SampleBlockEntry> entries;
    const Status decoded = decode_sample_index(in, entries);
    for (const SampleBlockEntry& entry : entries) {
      records.push_back(entry.head);
      records.push_back(entry.body);
    }
    return decoded;
  }
  std::vector<PageEntry> entries;
  const Status decoded = decode_page_index(in, entries);
  for (const PageEntry& entry : entries) {
    records.push_back(entry.block);
  }
  return decoded;
}

// Checks the blocks of a section one after the other: a hostile index may list more of them than
// memory has room for, but not more than the section has bytes.
class SectionCheck {
 public:
  SectionCheck(BlockReader& blocks, const SectionRecord& section, ReadScratch& scratch)
      : blocks_(blocks), section_(section), scratch_(scratch) {}

  Status add(std::span<const BlockRecord> records) {
    for (const BlockRecord& record : records) {
      if (record.stored_bytes == 0 || record.stored_bytes > section_.stored_bytes - done_) {
        return wrong_sizes();
      }
      const auto stored = blocks_.read_stored(section_.offset + done_, record, scratch_);
      if (!stored) {
        return stored.error();
      }
      done_ += record.stored_bytes;
    }
    return {};
  }

  [[nodiscard]] Status end() const {
    return done_ == section_.stored_bytes ? Status{} : Status{wrong_sizes()};
  }

 private:
  [[nodiscard]] Error wrong_sizes() const {
    return {ErrorCode::kCorrupt, section_.offset, "spk: index: sizes"};
  }

  BlockReader& blocks_;
  const SectionRecord& section_;
  ReadScratch& scratch_;
  std::uint64_t done_ = 0;
};

Status check_listed(BlockReader& blocks, const SectionRecord& section, ReadScratch& scratch) {
  SectionCheck check(blocks, section, scratch);
  const Status checked = check.add(section.blocks);
  return checked ? check.end() : checked;
}

Status check_indexed(BlockReader& blocks, const SectionRecord& section, const SectionRecord& index,
                     ReadScratch& scratch) {
  SectionCheck check(blocks, section, scratch);
  Status checked;  // says where in the section, and not in the index
  std::vector<BlockRecord> records;
  const Status read = for_each_block(blocks, index, scratch, [&](const bytes::ByteCursor& in) {
    records.clear();
    const Status decoded = decode_index(static_cast<SectionKind>(index.kind), in, records);
    checked = decoded ? check.add(records) : Status{};
    return decoded ? checked : decoded;
  });
  return !checked ? checked : read ? check.end() : read;
}

}  // namespace

Status check_stored_blocks(BlockReader& blocks, const Directory& directory) {
  BlockReader::Lease scratch = blocks.borrow();
  for (const SectionRecord& section : directory.sections) {
    if ((section.flags & kSectionIndexed) != 0) {
      continue;
    }
    if (const Status checked = check_listed(blocks, section, *scratch); !checked) {
      return checked;
    }
  }
  for (const IndexedSection& indexed : kIndexed) {
    const SectionRecord* const section = directory.find(indexed.blocks);
    const SectionRecord* const index = directory.find(indexed.index);
    if (section == nullptr || index == nullptr) {
      continue;
    }
    if (const Status checked = check_indexed(blocks, *section, *index, *scratch); !checked) {
      return checked;
    }
  }
  return {};
}

}  // namespace stackpack::spk
