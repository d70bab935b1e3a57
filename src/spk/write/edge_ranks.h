// The edge table as the writer of pages needs it: where a child stands in its row, and which rank
// it has there. It is made of the blocks that were written, so that it knows what a reader will
// know.
//
// Unlike the table that a reader has, it need not fit in memory: where the edges take more
// than the writer may have, they are looked up in scratch files through a bounded number of pages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "bytes/byte_cursor.h"
#include "scratch/spillable_array.h"
#include "spk/format/edge_blocks.h"
#include "spk/format/layout.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Where a child stands in its row.
struct EdgePlace {
  std::uint32_t position = 0;
  std::uint32_t rank = 0;
};

/// Use: add_block() for every block of the file, finish(), then the look-ups.
/// Memory: 4 bytes a row and 8 an edge, three times that while they come; or options.memory_bytes.
class EdgeRanks {
 public:
  struct Options {
    std::string scratch_directory = ".";
    std::uint64_t most_edges = 0;    ///< an upper bound of what is to come
    std::uint64_t memory_bytes = 0;  ///< for the table; 0: no bound
  };

  EdgeRanks(std::uint32_t frame_count, const Options& options);

  /// Adds the edges of the next block. Errors: those of EdgeBlockDecoder; kIo.
  Status add_block(bytes::ByteCursor in);
  /// After the last block. Errors: kCorrupt: rows are missing; kIo.
  Status finish();

  [[nodiscard]] std::uint32_t row_count() const { return frame_count_ + 1; }

  /// A row, once finished; without its top. Errors: kIo.
  Result<EdgeRow> row(std::uint32_t number);
  /// Where a child stands in its row, which has it, and not in front of position `from`.
  /// Errors: kIo.
  Result<EdgePlace> place_of(const EdgeRow& row, std::uint32_t child, std::uint32_t from);

  /// Fetches what row() will look at, where it is in memory.
  void prefetch(std::uint32_t number) const {
    if (const auto starts = starts_.in_memory(); !starts.empty()) {
      __builtin_prefetch(&starts[number]);
    }
  }

 private:
  Status rank_row(std::uint32_t size);
  Status rank_only_edge();
  Status close_row();

  std::uint32_t frame_count_;
  EdgeBlockDecoder decoder_;
  scratch::SpillableArray<std::uint32_t> starts_;  // of each row, and the end of the last
  scratch::SpillableArray<std::uint64_t>
      edges_;               // child, below it the rank; of an open row the class
  std::uint32_t rows_ = 0;  // closed ones
  std::uint32_t edge_count_ = 0;
  std::uint32_t row_begin_ = 0;                              // first edge of the open row
  std::array<std::uint32_t, kMaxEdgeClass + 1> of_class_{};  // its edges
};

}  // namespace stackpack::spk
