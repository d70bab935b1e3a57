// The headers of an ELF file, as far as a smaller one is made of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elf/elf_headers.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::app {

// Sizes and a number of the ELF specification, 64 bits.
inline constexpr std::uint16_t kElfFileHeaderBytes = 64;
inline constexpr std::uint16_t kElfSegmentBytes = 56;
inline constexpr std::uint16_t kElfSectionBytes = 64;

/// A section with its name.
struct ElfSection : elf::Section {
  std::string name;

  /// Whether the file has bytes of it.
  [[nodiscard]] bool has_bytes() const;
};

struct ElfParts {
  std::uint16_t type = 0;
  std::uint16_t machine = 0;
  std::uint32_t flags = 0;
  std::uint64_t entry = 0;
  std::vector<elf::Segment> segments;  ///< PT_LOAD
  std::vector<ElfSection> sections;    ///< the first one is that of the format, and empty

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
