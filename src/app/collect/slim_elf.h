#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/byte_source.h"
#include "stackpack/result.h"
#include "symbolize/elf_identity.h"

namespace stackpack::app {

/// An ELF file with unwind tables and symbols of another one, and no more.
struct SlimElf {
  std::vector<std::byte> bytes;
  bool has_tables = false;   ///< .eh_frame or .debug_frame
  bool has_symbols = false;  ///< a symbol table of any kind
  bool left_out = false;     ///< something that belongs in here is damaged, or too large
};

/// Makes one of an image and the file with what was stripped from it; either may be null, not both.
///
/// Layout: as files of debug sections alone, which readers know: all headers stay, so that numbers
///         of sections in symbols mean the same, and offsets of segments are those in the image;
///         sections without bytes are left out. Large ones
///         are compressed with zstd. .eh_frame_hdr stays only where it says more than .eh_frame.
///         The same files give the same bytes.
/// `placed`: executable segments with their offsets in the image, where the files do not have them.
/// Memory: the sections that are kept, each at most kMostSectionBytes.
/// Errors: kUnsupported: no little-endian ELF file of 64 bits.
inline constexpr std::uint64_t kMostSectionBytes = std::uint64_t{192} << 20;
Result<SlimElf> make_slim_elf(io::ByteSource* image, io::ByteSource* debug,
                              std::span<const std::uint8_t> build_id,
                              std::span<const symbolize::ElfSegment> placed = {});

}  // namespace stackpack::app
