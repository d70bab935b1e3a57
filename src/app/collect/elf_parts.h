// The headers of an ELF file, as far as a smaller one is made of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::app {

// Sizes and a number of the ELF specification, 64 bits.
inline constexpr std::uint16_t kElfFileHeaderBytes = 64;
inline constexpr std::uint16_t kElfSegmentBytes = 56;
inline constexpr std::uint16_t kElfSectionBytes = 64;
inline constexpr std::uint32_t kElfNoBits = 8;  ///< a section without bytes in the file

/// A section, by the fields of its header.
struct ElfSection {
  std::string name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t alignment = 0;
  std::uint64_t entry_bytes = 0;

  /// Whether the file has bytes of it.
  [[nodiscard]] bool has_bytes() const;
};

struct ElfLoadSegment {
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t alignment = 0;
};

struct ElfParts {
  std::uint16_t type = 0;
  std::uint16_t machine = 0;
  std::uint32_t flags = 0;
  std::uint64_t entry = 0;
  std::vector<ElfLoadSegment> segments;
  std::vector<ElfSection> sections;  ///< the first one is that of the format, and empty

  /// The number of the section of that name with bytes, else without; 0: there is none.
  [[nodiscard]] std::uint32_t find(std::string_view name) const;
};

/// Reads the headers of a little-endian ELF file of 64 bits.
/// Errors: kUnsupported for any other file; kTruncated.
Result<ElfParts> read_elf_parts(io::ByteSource& file);

/// The bytes of a section; empty when the file does not have them all, or they are more than
/// `most`.
std::vector<std::byte> section_bytes(io::ByteSource& file, const ElfSection& section,
                                     std::uint64_t most);

}  // namespace stackpack::app
