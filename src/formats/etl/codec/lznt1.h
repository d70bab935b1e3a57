#pragma once

#include <cstddef>
#include <span>

#include "formats/etl/codec/decompress.h"

namespace stackpack::etl {

/// Decompresses LZNT1: chunks of 4 KiB of output, each on its own.
///
/// Input, Output, Result: as decode_xpress_plain(). A chunk header of zero ends the stream.
/// Cost:   one pass, no allocation.
/// Source: [MS-XCA] 2.5; docs/etl-notes.md.
DecodeOutcome decode_lznt1(std::span<const std::byte> in, std::span<std::byte> out,
                           std::size_t wanted);

}  // namespace stackpack::etl
