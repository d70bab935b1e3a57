// Index sections: where the blocks of pages and samples are, and what is in them. They are apart
// from the directory so that opening a file does not depend on its size.
//
// Page index, per block of kPagesPerIndexBlock pages:
//   varint  pages
//   column  stored bytes, column raw bytes, column callstacks that end in the page
//   u64[]   XXH3 of the stored page
// Sample index, per block of kSampleBlocksPerIndexBlock sample blocks:
//   varint  sample blocks
//   column  stored bytes of the head, column raw bytes of the head, the same two of the body
//   column  samples, column first time, column last time - first time
//   u64[]   XXH3 of the stored head, u64[] of the stored body
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/column_codec.h"
#include "spk/format/directory.h"
#include "stackpack/result.h"

namespace stackpack::spk {

struct PageEntry {
  BlockRecord block;
  std::uint32_t stacks = 0;
};

struct SampleBlockEntry {
  BlockRecord head;
  BlockRecord body;
  std::uint32_t samples = 0;
  std::uint64_t from_ns = 0;  ///< earliest time
  std::uint64_t to_ns = 0;    ///< latest time
};

void encode_page_index(std::span<const PageEntry> entries, BlockContent& content);
void encode_sample_index(std::span<const SampleBlockEntry> entries, BlockContent& content);

/// Append the entries of one index block.
/// Errors: kCorrupt: more entries than a block may have, sizes out of bounds.
Status decode_page_index(bytes::ByteCursor in, std::vector<PageEntry>& entries);
Status decode_sample_index(bytes::ByteCursor in, std::vector<SampleBlockEntry>& entries);

}  // namespace stackpack::spk
