#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "spk/format/block_index.h"
#include "spk/format/directory.h"
#include "spk/read/block_reader.h"
#include "spk/read/sample_block_decoder.h"
#include "spk/read/sample_columns_decoder.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// The samples of an open file: the index, loaded at first use, and the blocks.
/// Threads: any number.
class SampleBlocks {
 public:
  SampleBlocks(BlockReader& blocks, const Directory& directory)
      : blocks_(blocks), directory_(directory) {}

  /// Loads the index unless it is there. A failure is tried again at the next call.
  Status load();

  struct Block {
    SampleBlockEntry entry;
    std::uint64_t offset = 0;  ///< of the head; the body follows
  };
  [[nodiscard]] const std::vector<Block>& blocks() const { return index_; }

  Status read_head(const Block& block, ReadScratch& scratch, SampleHead& head);
  Status read_body(const Block& block, const SampleHead& head, const SampleBounds& bounds,
                   SampleBlockDecoder::Order order, ReadScratch& scratch,
                   std::vector<StoredSample>& samples);

  /// Decodes the body into `decoder`. `columns`, `ordered`: see there.
  Status read_columns(const Block& block, const SampleHead& head, const SampleBounds& bounds,
                      std::uint32_t columns, bool ordered, ReadScratch& scratch,
                      SampleColumnsDecoder& decoder);

 private:
  Status load_index(ReadScratch& scratch);

  BlockReader& blocks_;
  const Directory& directory_;
  std::mutex mutex_;
  std::atomic<bool> loaded_{false};
  std::vector<Block> index_;
};

/// Whether one of the threads of a head is asked for.
bool has_wanted_thread(const SampleHead& head, const SampleQuery& query);

/// Whether a sample fulfils every condition.
bool matches(const StoredSample& sample, const SampleQuery& query);

}  // namespace stackpack::spk
