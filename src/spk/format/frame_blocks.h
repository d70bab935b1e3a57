// Every distinct frame of a file, once, ascending: a node names its frame by the index here.
//
// Section frames: blocks of kFramesPerBlock frames, each decodable alone.
//
//   varint  runs                        stretches of one mode, 1 .. 7
//   runs x  u8 mode, varint count, varint address of the first frame
//   column  the other frames' distance from the frame before, all runs in a row
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/column_codec.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Appends one block. `frames`: ascending, none twice, at most kFramesPerBlock.
void encode_frame_block(std::span<const Frame> frames, BlockContent& content);

/// Decodes one block of exactly `count` frames into `frames` (replaced).
/// Errors: kCorrupt: not ascending, unknown mode, wrong count.
Status decode_frame_block(bytes::ByteCursor in, std::uint32_t count, std::vector<Frame>& frames);

}  // namespace stackpack::spk
