#include "symbolize/elf_identity.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <elf.h>
#include <zlib.h>

#include "elf/elf_headers.h"

namespace stackpack::symbolize {

namespace {

using bytes::ByteCursor;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kMostNoteBytes = std::size_t{1} << 20;
constexpr std::size_t kLongestBuildId = 64;
constexpr std::size_t kMostModuleSections = 4096;  // with code

// The segments, and where their notes are.
void take_segments(const elf::Headers& headers, ElfIdentity& elf,
                   std::vector<std::pair<std::uint64_t, std::uint64_t>>& notes) {
  for (const elf::Segment& segment : headers.segments) {
    if (segment.type == PT_LOAD) {
      elf.segments.push_back({segment.offset, segment.address, segment.file_bytes,
                              segment.memory_bytes, (segment.flags & PF_X) != 0,
                              segment.alignment});
    } else if (segment.type == PT_NOTE) {
      notes.emplace_back(segment.offset, segment.file_bytes);
    }
  }
}

void read_build_id(const Bytes& notes, ElfIdentity& elf) {
  ByteCursor in(notes, 0, elf.order);
  const auto padded = [](std::uint32_t size) { return (std::uint64_t{size} + 3) / 4 * 4; };
  while (in.remaining() >= 3 * sizeof(std::uint32_t) && elf.build_id.empty()) {
    const auto name_bytes = in.read<std::uint32_t>();
    const auto id_bytes = in.read<std::uint32_t>();
    const auto type = in.read<std::uint32_t>();
    ByteCursor name(in.read_bytes(padded(name_bytes)), 0, elf.order);
    const std::string_view owner = name.read_c_string();
    // The last note of a part may lack its padding.
    const std::uint64_t taken = std::min<std::uint64_t>(padded(id_bytes), in.remaining());
    const std::span<const std::byte> id = in.read_bytes(taken);
    if (!in.ok() || id.size() < id_bytes) {
      return;
    }
    if (type == NT_GNU_BUILD_ID && owner == "GNU" && id_bytes <= kLongestBuildId) {
      for (const std::byte byte : id.first(id_bytes)) {
        elf.build_id.push_back(std::to_integer<std::uint8_t>(byte));
      }
    }
  }
}

std::string_view text_at(const Bytes& bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) {
    return {};
  }
  ByteCursor in(std::span<const std::byte>(bytes).subspan(static_cast<std::size_t>(offset)),
                offset);
  return in.read_c_string();
}

void read_links(io::ByteSource& file, const elf::Section& section, std::string_view name,
                ElfIdentity& elf) {
  const Bytes bytes = elf::read_part(file, section.offset, section.size, kMostNoteBytes);
  const std::string_view link = text_at(bytes, 0);
  const std::size_t after = link.size() + 1;
  if (link.empty() || after > bytes.size()) {
    return;
  }
  if (name == ".gnu_debugaltlink") {
    elf.alternate_link = link;
    for (std::size_t i = after; i < std::min(bytes.size(), after + kLongestBuildId); ++i) {
      elf.alternate_build_id.push_back(std::to_integer<std::uint8_t>(bytes[i]));
    }
    return;
  }
  const std::size_t at = (after + 3) / 4 * 4;
  ByteCursor in(bytes, section.offset, elf.order);
  in.read_bytes(at);
  const auto crc = in.read<std::uint32_t>();
  if (in.ok()) {
    elf.debug_link = link;
    elf.debug_link_crc = crc;
  }
}

bool is_zstd(io::ByteSource& file, const elf::Section& section, const ElfIdentity& elf) {
  constexpr std::uint32_t kZstd = 2;  // ELFCOMPRESS_ZSTD, which older headers lack
  if ((section.flags & SHF_COMPRESSED) == 0 || section.size < sizeof(std::uint32_t)) {
    return false;
  }
  const Bytes type = elf::read_part(file, section.offset, sizeof(std::uint32_t), kMostNoteBytes);
  return ByteCursor(type, section.offset, elf.order).read<std::uint32_t>() == kZstd;
}

// A section with code of a kernel module, as a segment.
void place_section(const elf::Section& section, std::string_view name, ModuleLayout& layout,
                   ElfIdentity& elf) {
  const auto address = layout.place(name, section.flags, section.size, section.alignment);
  if (address && *address < ModuleLayout::kStartBase) {
    elf.segments.push_back(
        {*address - ModuleLayout::kBase, *address, section.size, section.size, true});
  }
}

void take_sections(io::ByteSource& file, const elf::Headers& headers, ElfIdentity& elf) {
  elf.sections = {headers.sections_at, static_cast<std::uint32_t>(headers.sections.size()),
                  headers.section_bytes};
  ModuleLayout layout;
  for (const elf::Section& section : headers.sections) {
    const std::string_view name = headers.name_of(section);
    if (elf.type == ET_REL && elf.segments.size() < kMostModuleSections) {
      place_section(section, name, layout, elf);
    }
    const bool has_bytes = section.type != SHT_NOBITS && section.size != 0;
    elf.has_symbols |= section.type == SHT_SYMTAB;
    elf.has_dwarf |= has_bytes && (name == ".debug_info" || name == ".zdebug_info");
    elf.has_split |= has_bytes && name == ".debug_addr";
    elf.has_zstd |= has_bytes && is_zstd(file, section, elf);
    elf.has_code |= has_bytes && (section.flags & SHF_EXECINSTR) != 0;
    if (section.type == SHT_NOTE && has_bytes && elf.build_id.empty()) {
      read_build_id(elf::read_part(file, section.offset, section.size, kMostNoteBytes), elf);
    } else if (has_bytes && (name == ".gnu_debuglink" || name == ".gnu_debugaltlink")) {
      read_links(file, section, name, elf);
    }
  }
}

// Whether the executable segments still have all their bytes, which may be in another file.
bool keeps_code_bytes(const ElfIdentity& elf) {
  return std::all_of(elf.segments.begin(), elf.segments.end(), [](const ElfSegment& segment) {
    return !segment.executable || segment.file_bytes == segment.memory_bytes;
  });
}

}  // namespace

std::optional<std::uint64_t> ElfIdentity::address_of(std::uint64_t offset) const {
  for (const bool executable : {true, false}) {
    for (const ElfSegment& segment : segments) {
      if (segment.executable == executable && offset >= segment.offset &&
          offset - segment.offset < segment.file_bytes) {
        return segment.address + (offset - segment.offset);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ElfIdentity::offset_of(std::uint64_t address) const {
  for (const bool executable : {true, false}) {
    for (const ElfSegment& segment : segments) {
      if (segment.executable == executable && address >= segment.address &&
          address - segment.address < segment.file_bytes) {
        return segment.offset + (address - segment.address);
      }
    }
  }
  return std::nullopt;
}

Result<ElfIdentity> read_elf_identity(io::ByteSource& file) {
  const Result<elf::Headers> headers = elf::read_headers(file);
  if (!headers) {
    return headers.error();
  }
  ElfIdentity elf;
  elf.is_64_bit = headers->is_64_bit;
  elf.order = headers->order;
  elf.type = headers->type;
  elf.machine = headers->machine;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> notes;
  take_segments(*headers, elf, notes);
  take_sections(file, *headers, elf);
  elf.has_image_offsets = elf.has_code || elf.type == ET_REL || keeps_code_bytes(elf);
  for (const auto& [offset, size] : notes) {
    if (elf.build_id.empty()) {
      read_build_id(elf::read_part(file, offset, size, kMostNoteBytes), elf);
    }
  }
  return elf;
}

Result<std::uint32_t> debug_link_crc(io::ByteSource& file) {
  uLong crc = ::crc32(0, nullptr, 0);
  Bytes block(std::size_t{1} << 18);
  for (std::uint64_t offset = 0;;) {
    const Result<std::size_t> count = file.read_at(offset, block);
    if (!count) {
      return count.error();
    }
    if (*count == 0) {
      return static_cast<std::uint32_t>(crc);
    }
    crc = ::crc32(crc, static_cast<const Bytef*>(static_cast<const void*>(block.data())),
                  static_cast<uInt>(*count));
    offset += *count;
  }
}

}  // namespace stackpack::symbolize
