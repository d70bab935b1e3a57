#pragma once

#include <cstdint>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/sample_block.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// The threads of a block, from its head.
struct SampleHead {
  std::uint32_t samples = 0;
  std::vector<ThreadKey> threads;  ///< ascending
};

/// Errors: kCorrupt.
Status decode_sample_head(bytes::ByteCursor in, std::uint32_t samples, SampleHead& head);

}  // namespace stackpack::spk
