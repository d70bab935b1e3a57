#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codec/zstd_codec.h"
#include "core/ordered_pipeline.h"
#include "spk/format/column_codec.h"
#include "spk/write/section_writer.h"
#include "stackpack/result.h"
#include "stackpack/waits.h"

namespace stackpack::spk {

/// Writes the sections intervals and wait_reasons.
///
/// Order of calls: add() with the rows in the order of the file, then end(). Without rows nothing
/// is written. Errors: those of the output file.
/// Threads: all calls from one; blocks are encoded and compressed on another one, so that the rows
/// of the next are merged meanwhile, and come out in order: a file does not show whether there was
/// one. A single block takes none. With more of them each would need the memory of zstd and of an
/// encoder, some 11 MB.
/// Memory: two blocks, and what encoding takes.
class IntervalWriter {
 public:
  /// `stacks`: callstacks of the file. `threaded` false: the calling thread does all.
  IntervalWriter(SectionWriter& out, std::uint64_t stacks, bool threaded);

  Status add(const WaitInterval& row);
  Status end(std::span<const std::string> reasons);

 private:
  struct Frame {
    std::vector<std::byte> bytes;
    std::uint32_t raw_bytes = 0;
  };
  struct Block {
    std::vector<WaitInterval> rows;
    std::vector<Frame> frames;  // more than one when rows are alike
  };

  Status pack(Block& block);
  Status pack_rows(std::span<const WaitInterval> rows, std::vector<Frame>& frames);
  Status write(Block& block);

  SectionWriter& out_;
  std::uint64_t stacks_;
  std::uint64_t reasons_used_ = 1;  // 1 + the highest; 0 is none
  std::uint64_t count_ = 0;
  WaitInterval last_;
  BlockContent content_;                   // of the thread, once there is one
  codec::ZstdCompressor zstd_;             // likewise
  core::OrderedPipeline<Block> pipeline_;  // last: its thread uses what is above
};

}  // namespace stackpack::spk
