#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

#include "bytes/byte_cursor.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::symbolize {

/// Where the kernel loads the sections of a module, which has no addresses of its own: those with
/// code one after the other, in the order of the file and aligned, from the first byte of the
/// module's mapping on; those for its start, which are thrown away, elsewhere.
///
/// Not followed: machines for which the kernel adds sections of its own between them (PLTs of
/// aarch64).
class ModuleLayout {
 public:
  /// The address of the first byte; none has 0, which stands for code that a linker threw away.
  static constexpr std::uint64_t kBase = std::uint64_t{1} << 20;
  /// Of sections for the start.
  static constexpr std::uint64_t kStartBase = std::uint64_t{1} << 31;

  /// The address of the next section of the file; nothing when it has no code.
  std::optional<std::uint64_t> place(std::string_view name, std::uint64_t flags, std::uint64_t size,
                                     std::uint64_t alignment) {
    constexpr std::uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
    if ((flags & kCode) != kCode || size > kMostBytes) {
      return std::nullopt;
    }
    std::uint64_t& next = name.starts_with(".init") ? next_of_start_ : next_;
    const std::uint64_t unit = std::has_single_bit(alignment) && alignment <= kBase ? alignment : 1;
    const std::uint64_t address = (next + unit - 1) / unit * unit;
    if (address - kBase > kMostBytes && address < kStartBase) {
      return std::nullopt;
    }
    next = address + size;
    return address;
  }

 private:
  std::uint64_t next_ = kBase;
  std::uint64_t next_of_start_ = kStartBase;
};

/// A part of an ELF file that is mapped.
struct ElfSegment {
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t memory_bytes = 0;
  bool executable = false;
  std::uint64_t alignment = 0;
};

/// What says which ELF file this is, and which others belong to it.
struct ElfIdentity {
  bool is_64_bit = false;
  bytes::ByteOrder order = bytes::ByteOrder::kLittle;
  std::uint16_t type = 0;     ///< ET_*
  std::uint16_t machine = 0;  ///< EM_*
  /// Of a kernel module (ET_REL) its sections with code: offsets count from where it is mapped.
  std::vector<ElfSegment> segments;
  /// Whether `segments` have the offsets of the image. What strips an image gives its debug file
  /// others, which say nothing of the image, and takes the bytes of executable segments away.
  bool has_image_offsets = false;
  std::vector<std::uint8_t> build_id;  ///< empty: none
  std::string debug_link;              ///< name of the file with its debug sections; empty: none
  std::uint32_t debug_link_crc = 0;
  std::string alternate_link;  ///< path of a file that several debug files share; empty: none
  std::vector<std::uint8_t> alternate_build_id;
  bool has_symbols = false;  ///< a .symtab
  bool has_dwarf = false;    ///< a .debug_info
  bool has_code = false;     ///< the bytes of an executable section
  bool has_zstd = false;     ///< a section compressed with zstd
  bool has_split = false;    ///< parts of its debug information may be in .dwo files

  /// Where the table of sections is.
  struct Sections {
    std::uint64_t offset = 0;
    std::uint32_t count = 0;
    std::uint16_t entry_bytes = 0;
  };
  Sections sections;

  /// The address of a byte of the image, when its offsets are known; of several segments that have
  /// it the executable one.
  [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t offset) const;
  /// The other way round.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address) const;
};

/// Reads headers, notes and links of an ELF file; what is damaged is left out.
/// Errors: kUnsupported: no ELF file; kTruncated, kCorrupt: without a readable header; kIo.
Result<ElfIdentity> read_elf_identity(io::ByteSource& file);

/// The checksum that a debug link has of the file that it names.
Result<std::uint32_t> debug_link_crc(io::ByteSource& file);

}  // namespace stackpack::symbolize
