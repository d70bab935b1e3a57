#include "spk/write/block_compressor.h"

#include <utility>

namespace stackpack::spk {

BlockCompressor::BlockCompressor(int level, bool threaded, Write write)
    : write_(std::move(write)),
      zstd_(level),
      pipeline_(
          threaded ? 1 : 0, threaded ? kBlocks : 1,
          [this](unsigned, Block& block) {
            return zstd_.compress_parts(block.content.parts(), block.frame);
          },
          [this](Block& block) {
            const Status written =
                write_(block.frame, static_cast<std::uint32_t>(block.content.size()));
            block.content.clear();
            return written;
          }) {}

Status BlockCompressor::flush() {
  return filling().size() > 0 ? pipeline_.finish() : pipeline_.drain();
}

}  // namespace stackpack::spk
