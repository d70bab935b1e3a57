#pragma once

#include <cstddef>
#include <span>

#include "formats/etl/codec/decompress.h"

namespace stackpack::etl {

/// Decompresses plain Xpress (LZ77 without entropy coding).
///
/// Input:  `in` is one stream. `out` has room for `wanted` bytes and kDecodeSlack more.
/// Output: the first `produced` bytes of `out`; what lies after them is undefined.
/// Result: kComplete when `wanted` bytes were produced (input left over is not looked at), kShort
///         when the input ended before, kCorrupt for a match that reaches back before the start,
///         runs over `wanted`, or has an impossible length.
/// Cost:   one pass, no allocation; 1 to 3 GB/s of output on event streams.
/// Source: [MS-XCA] 2.4; docs/etl-notes.md.
DecodeOutcome decode_xpress_plain(std::span<const std::byte> in, std::span<std::byte> out,
                                  std::size_t wanted);

}  // namespace stackpack::etl
