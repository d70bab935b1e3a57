// The basic blocks of an ELF file, by .llvm_bb_addr_map, which Clang writes with
// -fbasic-block-address-map (-fbasic-block-sections=labels before LLVM 19).
// Source: LLVM's Extensions document, "SHT_LLVM_BB_ADDR_MAP Section", versions 0 to 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bytes/byte_cursor.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::symbolize {

struct CodeBlock {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t id = 0;        ///< what the compiler calls it
  std::uint32_t function = 0;  ///< row of BlockMap::entries
};

struct BlockMap {
  std::vector<std::uint64_t> entries;  ///< addresses of functions
  std::vector<CodeBlock> blocks;       ///< of one function after the other, as in the file
};

/// Reads the map. Memory: that of the sections, and 32 bytes a block.
/// Errors: those of elf::read_headers; kUnsupported: the file has no map, or one of a version that
/// is not known; kCorrupt, kTruncated with the offset in the file.
Result<BlockMap> read_block_map(io::ByteSource& file);

/// Whether the file has a section of that kind.
bool has_block_map(io::ByteSource& file);

/// Appends the functions of one section. `is_old`: of version 0, which has no byte for it.
Status decode_block_map(bytes::ByteCursor in, bool is_64_bit, bool is_old, BlockMap& map);

}  // namespace stackpack::symbolize
