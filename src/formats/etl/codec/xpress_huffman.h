#pragma once

#include <cstddef>
#include <span>

#include "formats/etl/codec/decompress.h"

namespace stackpack::etl {

/// Decompresses Xpress Huffman (LZ77 with a Huffman code for each 64 KiB of output).
///
/// Input, Output, Result: as decode_xpress_plain(); kCorrupt also for a code whose lengths do not
///         fill the code space exactly.
/// Cost:   one pass; a table of 8 KiB on the stack is filled for each block.
/// Source: [MS-XCA] 2.2; docs/etl-notes.md.
DecodeOutcome decode_xpress_huffman(std::span<const std::byte> in, std::span<std::byte> out,
                                    std::size_t wanted);

/// Whether the stream begins with 512 code lengths that make a complete code, which is hardly ever
/// so for anything but Xpress Huffman.
bool starts_like_xpress_huffman(std::span<const std::byte> in);

}  // namespace stackpack::etl
