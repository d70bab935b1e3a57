#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "spk/format/block_index.h"
#include "spk/format/dag_sections.h"
#include "spk/format/directory.h"
#include "spk/read/block_reader.h"
#include "spk/read/edge_table.h"
#include "spk/read/frame_dictionary.h"
#include "spk/read/page_cache.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// The callstacks of an open file, or its branch stacks: dictionary, edge table and page index,
/// loaded together at first use, and the page cache. Threads: any number, once loaded.
class DagStore {
 public:
  DagStore(BlockReader& blocks, const Directory& directory, const DagSections& sections,
           std::uint64_t cache_bytes)
      : blocks_(blocks), directory_(directory), sections_(sections), cache_bytes_(cache_bytes) {}

  /// Loads the tables unless they are there. A failure is tried again at the next call.
  Status load();

  /// Where a page is in file and DAG.
  struct Page {
    BlockRecord block;
    std::uint64_t offset = 0;
    std::uint64_t first_stack = 0;
    std::uint32_t stacks = 0;
  };

  // Once loaded:
  [[nodiscard]] std::uint64_t stack_count() const { return stack_count_; }
  [[nodiscard]] std::uint64_t node_count() const { return node_count_; }
  [[nodiscard]] const std::vector<Page>& pages() const { return pages_; }
  [[nodiscard]] const FrameDictionary& dictionary() const { return dictionary_; }
  [[nodiscard]] const EdgeTable& edges() const { return edges_; }
  /// What a page must say of itself.
  [[nodiscard]] PageDecoder::Expected expected_of(std::uint64_t number) const;
  /// The page in which stack `id` < stack_count() ends.
  [[nodiscard]] std::uint64_t page_of(std::uint64_t id) const;
  /// The page, from the cache or the file.
  Result<PageCache::Pin> page(std::uint64_t number);
  /// A callstack that ends in the page, `stack` < its stacks, leaf first, into `frames` (replaced).
  /// A page that is not in the cache is followed as far as the callstack; it is loaded when it is
  /// asked for again soon.
  Status read_stack(std::uint64_t number, std::uint32_t stack, std::vector<Frame>& frames);
  /// Bytes in memory of the tables and of all pages together. Reads every page.
  Result<std::uint64_t> resident_bytes();
  /// The page from the file.
  Result<ResidentPage> read_page(std::uint64_t number, ReadScratch& scratch);

  [[nodiscard]] CacheCounters cache() const;

 private:
  static constexpr std::uint64_t kStacksPerHint = 256;
  void add_hints();
  Status load_frames(ReadScratch& scratch);
  Status load_numbers();
  Status load_edges(ReadScratch& scratch);
  Status load_pages(ReadScratch& scratch);
  Status add_pages(const std::vector<PageEntry>& entries, const SectionRecord& section);

  BlockReader& blocks_;
  const Directory& directory_;
  DagSections sections_;
  std::uint64_t cache_bytes_;
  std::mutex mutex_;
  std::atomic<bool> loaded_{false};
  FrameDictionary dictionary_;
  EdgeTable edges_;
  std::vector<Page> pages_;
  std::vector<std::uint32_t> page_hints_;  // per kStacksPerHint stacks: the page of the first
  std::uint64_t stack_count_ = 0;
  std::uint64_t node_count_ = 0;
  std::optional<PageCache> cache_;
};

/// Calls `visit(content cursor, item number of the section's block)` for each listed block.
/// Errors: of reading, and of `visit`, whose offset becomes the block's.
template <typename Visit>
Status for_each_block(BlockReader& blocks, const SectionRecord& section, ReadScratch& scratch,
                      Visit visit) {
  std::uint64_t offset = section.offset;
  for (const BlockRecord& block : section.blocks) {
    const auto content = blocks.read(offset, block, scratch);
    if (!content) {
      return content.error();
    }
    if (const Status visited = visit(bytes::ByteCursor(content.value(), 0)); !visited) {
      Error error = visited.error();
      error.offset = offset;
      return error;
    }
    offset += block.stored_bytes;
  }
  return {};
}

}  // namespace stackpack::spk
