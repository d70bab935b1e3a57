// The headers of an ELF file. Source of the layout: System V ABI, "Object Files" (ELF header,
// section header, program header), of 32 and 64 bits and both byte orders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bytes/byte_cursor.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::elf {

/// Bytes of a table of headers or names that are read at most.
inline constexpr std::uint64_t kMostTableBytes = std::uint64_t{16} << 20;

inline constexpr std::uint32_t kSegmentLoad = 1;     ///< PT_LOAD
inline constexpr std::uint32_t kSegmentExecute = 1;  ///< PF_X
inline constexpr std::uint32_t kSectionNoBits = 8;   ///< SHT_NOBITS: without bytes in the file

struct Segment {
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t alignment = 0;
};

struct Section {
  std::uint32_t name = 0;  ///< where it begins in the names
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t alignment = 0;
  std::uint64_t entry_bytes = 0;
};

struct Headers {
  bool is_64_bit = false;
  bytes::ByteOrder order = bytes::ByteOrder::kLittle;
  std::uint16_t type = 0;     ///< ET_*
  std::uint16_t machine = 0;  ///< EM_*
  std::uint32_t flags = 0;
  std::uint64_t entry = 0;
  std::uint64_t sections_at = 0;
  std::uint16_t section_bytes = 0;  ///< of a row of their table
  std::vector<Segment> segments;    ///< of every type
  std::vector<Section> sections;
  std::vector<std::byte> names;  ///< of sections; empty when they are damaged

  [[nodiscard]] bool is_little_64() const {
    return is_64_bit && order == bytes::ByteOrder::kLittle;
  }
  /// Empty where there is none. Valid as long as the headers.
  [[nodiscard]] std::string_view name_of(const Section& section) const;
};

/// Reads the headers; tables that are cut or too large are left out.
/// Errors: kUnsupported: not an ELF file; kCorrupt: unknown class or byte order; kTruncated.
Result<Headers> read_headers(io::ByteSource& file);

/// Bytes of a file; empty when it does not have them all, or they are more than `most`.
std::vector<std::byte> read_part(io::ByteSource& file, std::uint64_t offset, std::uint64_t size,
                                 std::uint64_t most);

}  // namespace stackpack::elf
