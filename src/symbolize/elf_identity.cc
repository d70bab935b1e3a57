#include "symbolize/elf_identity.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <elf.h>
#include <zlib.h>

#include "symbolize/module_layout.h"

namespace stackpack::symbolize {

namespace {

using bytes::ByteCursor;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kMostTableBytes = std::size_t{16} << 20;
constexpr std::size_t kMostNoteBytes = std::size_t{1} << 20;
constexpr std::size_t kLongestBuildId = 64;
constexpr std::size_t kMostModuleSections = 4096;  // with code

// Up to `size` bytes at `offset`: none when the file does not have them all, or they are too many.
Bytes read_part(io::ByteSource& file, std::uint64_t offset, std::uint64_t size, std::size_t most) {
  const std::uint64_t all = file.size().value_or(0);
  if (size == 0 || size > most || offset > all || size > all - offset) {
    return {};
  }
  Bytes part(static_cast<std::size_t>(size));
  const Result<std::size_t> count = file.read_at(offset, part);
  if (!count || *count != part.size()) {
    return {};
  }
  return part;
}

struct Header {
  std::uint64_t segments_at = 0;
  std::uint64_t sections_at = 0;
  std::uint16_t segment_bytes = 0;
  std::uint16_t segments = 0;
  std::uint16_t section_bytes = 0;
  std::uint32_t sections = 0;
  std::uint32_t names = 0;
};

struct Section {
  std::uint32_t name = 0;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint64_t alignment = 0;
};

std::uint64_t read_word(ByteCursor& in, bool is_64_bit) {
  return is_64_bit ? in.read<std::uint64_t>() : in.read<std::uint32_t>();
}

Result<Header> read_header(io::ByteSource& file, ElfIdentity& elf) {
  const Bytes bytes =
      read_part(file, 0, std::min<std::uint64_t>(sizeof(Elf64_Ehdr), file.size().value_or(0)),
                sizeof(Elf64_Ehdr));
  ByteCursor ident(bytes, 0);
  constexpr std::uint32_t kMagic = 0x464C'457F;
  if (ident.read<std::uint32_t>() != kMagic) {
    return Error{ErrorCode::kUnsupported, 0, "elf: not an ELF file"};
  }
  const auto word_size = ident.read<std::uint8_t>();
  const auto order = ident.read<std::uint8_t>();
  if ((word_size != ELFCLASS32 && word_size != ELFCLASS64) ||
      (order != ELFDATA2LSB && order != ELFDATA2MSB)) {
    return Error{ErrorCode::kCorrupt, EI_CLASS, "elf: unknown class or byte order"};
  }
  elf.is_64_bit = word_size == ELFCLASS64;
  elf.order = order == ELFDATA2LSB ? bytes::ByteOrder::kLittle : bytes::ByteOrder::kBig;
  ByteCursor in(bytes, 0, elf.order);
  in.read_bytes(EI_NIDENT);
  elf.type = in.read<std::uint16_t>();
  elf.machine = in.read<std::uint16_t>();
  in.read<std::uint32_t>();  // version
  read_word(in, elf.is_64_bit);
  Header header;
  header.segments_at = read_word(in, elf.is_64_bit);
  header.sections_at = read_word(in, elf.is_64_bit);
  in.read<std::uint32_t>();  // flags
  in.read<std::uint16_t>();  // size of the header
  header.segment_bytes = in.read<std::uint16_t>();
  header.segments = in.read<std::uint16_t>();
  header.section_bytes = in.read<std::uint16_t>();
  header.sections = in.read<std::uint16_t>();
  header.names = in.read<std::uint16_t>();
  if (!in.ok()) {
    return Error{ErrorCode::kTruncated, bytes.size(), "elf: header is cut"};
  }
  return header;
}

// The segments, and where their notes are.
void read_segments(io::ByteSource& file, const Header& header, ElfIdentity& elf,
                   std::vector<std::pair<std::uint64_t, std::uint64_t>>& notes) {
  const std::uint64_t size = elf.is_64_bit ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  if (header.segment_bytes < size) {
    return;
  }
  const Bytes table =
      read_part(file, header.segments_at, std::uint64_t{header.segments} * header.segment_bytes,
                kMostTableBytes);
  ByteCursor in(table, header.segments_at, elf.order);
  while (in.remaining() >= header.segment_bytes) {
    ByteCursor row(in.read_bytes(header.segment_bytes), 0, elf.order);
    const auto type = row.read<std::uint32_t>();
    std::uint32_t flags = elf.is_64_bit ? row.read<std::uint32_t>() : 0;
    ElfSegment segment;
    segment.offset = read_word(row, elf.is_64_bit);
    segment.address = read_word(row, elf.is_64_bit);
    read_word(row, elf.is_64_bit);  // physical address
    segment.file_bytes = read_word(row, elf.is_64_bit);
    segment.memory_bytes = read_word(row, elf.is_64_bit);
    flags |= elf.is_64_bit ? 0 : row.read<std::uint32_t>();
    segment.alignment = read_word(row, elf.is_64_bit);
    segment.executable = (flags & PF_X) != 0;
    if (type == PT_LOAD) {
      elf.segments.push_back(segment);
    } else if (type == PT_NOTE) {
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

Section read_section(ByteCursor row, bool is_64_bit) {
  Section section;
  section.name = row.read<std::uint32_t>();
  section.type = row.read<std::uint32_t>();
  section.flags = read_word(row, is_64_bit);
  read_word(row, is_64_bit);  // address
  section.offset = read_word(row, is_64_bit);
  section.size = read_word(row, is_64_bit);
  section.link = row.read<std::uint32_t>();
  row.read<std::uint32_t>();  // info
  section.alignment = read_word(row, is_64_bit);
  return section;
}

std::vector<Section> read_section_table(io::ByteSource& file, Header& header,
                                        const ElfIdentity& elf) {
  const std::uint64_t size = elf.is_64_bit ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  if (header.sections_at == 0 || header.section_bytes < size) {
    return {};
  }
  if (header.sections == 0 || header.names == SHN_XINDEX) {
    // Numbers that do not fit the header are in the first section.
    const Bytes first = read_part(file, header.sections_at, size, kMostTableBytes);
    const Section section = read_section(ByteCursor(first, 0, elf.order), elf.is_64_bit);
    header.sections = header.sections != 0              ? header.sections
                      : section.size <= kMostTableBytes ? static_cast<std::uint32_t>(section.size)
                                                        : 0;
    header.names = header.names == SHN_XINDEX ? section.link : header.names;
  }
  const Bytes table =
      read_part(file, header.sections_at, std::uint64_t{header.sections} * header.section_bytes,
                kMostTableBytes);
  ByteCursor in(table, header.sections_at, elf.order);
  std::vector<Section> sections;
  while (in.remaining() >= header.section_bytes) {
    sections.push_back(
        read_section(ByteCursor(in.read_bytes(header.section_bytes), 0, elf.order), elf.is_64_bit));
  }
  return sections;
}

std::string_view text_at(const Bytes& bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) {
    return {};
  }
  ByteCursor in(std::span<const std::byte>(bytes).subspan(static_cast<std::size_t>(offset)),
                offset);
  return in.read_c_string();
}

void read_links(io::ByteSource& file, const Section& section, std::string_view name,
                ElfIdentity& elf) {
  const Bytes bytes = read_part(file, section.offset, section.size, kMostNoteBytes);
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

bool is_zstd(io::ByteSource& file, const Section& section, const ElfIdentity& elf) {
  constexpr std::uint32_t kZstd = 2;  // ELFCOMPRESS_ZSTD, which older headers lack
  if ((section.flags & SHF_COMPRESSED) == 0 || section.size < sizeof(std::uint32_t)) {
    return false;
  }
  const Bytes type = read_part(file, section.offset, sizeof(std::uint32_t), kMostNoteBytes);
  return ByteCursor(type, section.offset, elf.order).read<std::uint32_t>() == kZstd;
}

// A section with code of a kernel module, as a segment.
void place_section(const Section& section, std::string_view name, ModuleLayout& layout,
                   ElfIdentity& elf) {
  const auto address = layout.place(name, section.flags, section.size, section.alignment);
  if (address && *address < ModuleLayout::kStartBase) {
    elf.segments.push_back(
        {*address - ModuleLayout::kBase, *address, section.size, section.size, true});
  }
}

void read_sections(io::ByteSource& file, Header header, ElfIdentity& elf) {
  const std::vector<Section> sections = read_section_table(file, header, elf);
  elf.sections = {header.sections_at, static_cast<std::uint32_t>(sections.size()),
                  header.section_bytes};
  const Bytes names = header.names < sections.size()
                          ? read_part(file, sections[header.names].offset,
                                      sections[header.names].size, kMostTableBytes)
                          : Bytes();
  ModuleLayout layout;
  for (const Section& section : sections) {
    const std::string_view name = text_at(names, section.name);
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
      read_build_id(read_part(file, section.offset, section.size, kMostNoteBytes), elf);
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
  ElfIdentity elf;
  const Result<Header> header = read_header(file, elf);
  if (!header) {
    return header.error();
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> notes;
  read_segments(file, *header, elf, notes);
  read_sections(file, *header, elf);
  elf.has_image_offsets = elf.has_code || elf.type == ET_REL || keeps_code_bytes(elf);
  for (const auto& [offset, size] : notes) {
    if (elf.build_id.empty()) {
      read_build_id(read_part(file, offset, size, kMostNoteBytes), elf);
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
