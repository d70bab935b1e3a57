// Of an ELF file, what it takes to unwind through its code: where the code is, and the bytes of the
// sections with call frame information. Files are not trusted: everything is read into memory and
// through the cursor, sizes are bounded before memory is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "io/byte_source.h"
#include "stackpack/result.h"
#include "unwind/machine.h"

namespace stackpack::unwind {

/// A section of a file in memory, decompressed.
struct LoadedSection {
  std::uint64_t address = 0;
  std::vector<std::byte> bytes;
};

struct ElfLayout {
  /// Largest section that is read; of the files known the largest has 7 MB.
  static constexpr std::uint64_t kMostSectionBytes = std::uint64_t{64} << 20;

  struct CodeSegment {
    std::uint64_t offset = 0;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };
  Machine machine = Machine::kX64;
  std::uint64_t entry = 0;
  std::vector<CodeSegment> code;  ///< executable segments
  LoadedSection eh_frame_header;
  LoadedSection eh_frame;
  LoadedSection debug_frame;
  bool left_out = false;  ///< a section is damaged, too large, or compressed in an unknown way

  /// The address of the code at `offset` in the file. Two segments may share a page of the file, so
  /// that only the bytes that are a segment's count.
  [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t offset) const;

  [[nodiscard]] std::size_t memory_bytes() const {
    return eh_frame_header.bytes.size() + eh_frame.bytes.size() + debug_frame.bytes.size();
  }
};

/// Reads an ELF file of 64 bits, little-endian, of a machine that is known.
/// Errors: kUnsupported: no such file; kTruncated, kCorrupt: without readable headers; kIo.
Result<ElfLayout> read_elf_layout(io::ByteSource& file);

}  // namespace stackpack::unwind
