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

Status check_records(BlockReader& blocks, const SectionRecord& section,
                     std::span<const BlockRecord> records, ReadScratch& scratch) {
  std::uint64_t done = 0;
  for (const BlockRecord& record : records) {
    if (record.stored_bytes > section.stored_bytes - done) {
      return Error{ErrorCode::kCorrupt, section.offset, "spk: index: sizes"};
    }
    if (const auto stored = blocks.read_stored(section.offset + done, record, scratch); !stored) {
      return stored.error();
    }
    done += record.stored_bytes;
  }
  return done == section.stored_bytes
             ? Status{}
             : Status{Error{ErrorCode::kCorrupt, section.offset, "spk: index: sizes"}};
}

}  // namespace

Status check_stored_blocks(BlockReader& blocks, const Directory& directory) {
  BlockReader::Lease scratch = blocks.borrow();
  for (const SectionRecord& section : directory.sections) {
    if ((section.flags & kSectionIndexed) != 0) {
      continue;
    }
    if (const Status checked = check_records(blocks, section, section.blocks, *scratch); !checked) {
      return checked;
    }
  }
  for (const IndexedSection& indexed : kIndexed) {
    const SectionRecord* const section = directory.find(indexed.blocks);
    const SectionRecord* const index = directory.find(indexed.index);
    if (section == nullptr || index == nullptr) {
      continue;
    }
    std::vector<BlockRecord> records;
    const auto decode = [&](const bytes::ByteCursor& in) {
      return decode_index(indexed.index, in, records);
    };
    const Status listed = for_each_block(blocks, *index, *scratch, decode);
    if (const Status checked = listed ? check_records(blocks, *section, records, *scratch) : listed;
        !checked) {
      return checked;
    }
  }
  return {};
}

}  // namespace stackpack::spk
