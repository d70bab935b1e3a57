#include "app/collect/elf_parts.h"

#include <string_view>
#include <utility>

#include "bytes/byte_cursor.h"

namespace stackpack::app {

namespace {

using bytes::ByteCursor;
using Bytes = std::vector<std::byte>;

// Sizes and numbers of the ELF specification, 64 bits.
constexpr std::uint32_t kMagic = 0x464C'457F;
constexpr std::uint16_t kLittle64 = 0x0102;  // class 2, data 1
constexpr std::uint32_t kLoad = 1;
constexpr std::uint64_t kMostTable = std::uint64_t{16} << 20;

Bytes part_of(io::ByteSource& file, std::uint64_t offset, std::uint64_t size, std::uint64_t most) {
  const std::uint64_t all = file.size().value_or(0);
  if (size == 0 || size > most || offset > all || size > all - offset) {
    return {};
  }
  Bytes part(static_cast<std::size_t>(size));
  return io::read_exactly_at(file, offset, part, "elf: the file is cut") ? part : Bytes();
}

struct Tables {
  std::uint64_t segments_at = 0;
  std::uint64_t sections_at = 0;
  std::uint16_t segment_bytes = 0;
  std::uint16_t segments = 0;
  std::uint16_t section_bytes = 0;
  std::uint16_t sections = 0;
  std::uint16_t names = 0;
};

void read_segments(io::ByteSource& file, const Tables& tables, ElfParts& parts) {
  if (tables.segment_bytes < kElfSegmentBytes) {
    return;
  }
  const Bytes table = part_of(file, tables.segments_at,
                              std::uint64_t{tables.segments} * tables.segment_bytes, kMostTable);
  ByteCursor in(table, tables.segments_at);
  while (in.remaining() >= tables.segment_bytes) {
    ByteCursor row = in.sub(tables.segment_bytes);
    const auto type = row.read<std::uint32_t>();
    ElfLoadSegment segment;
    segment.flags = row.read<std::uint32_t>();
    segment.offset = row.read<std::uint64_t>();
    segment.address = row.read<std::uint64_t>();
    row.skip(8);  // physical address
    segment.file_bytes = row.read<std::uint64_t>();
    segment.memory_bytes = row.read<std::uint64_t>();
    segment.alignment = row.read<std::uint64_t>();
    if (type == kLoad) {
      parts.segments.push_back(segment);
    }
  }
}

void read_sections(io::ByteSource& file, const Tables& tables, ElfParts& parts) {
  if (tables.sections_at == 0 || tables.section_bytes < kElfSectionBytes) {
    return;
  }
  const Bytes table = part_of(file, tables.sections_at,
                              std::uint64_t{tables.sections} * tables.section_bytes, kMostTable);
  std::vector<std::uint32_t> names;
  ByteCursor in(table, tables.sections_at);
  while (in.remaining() >= tables.section_bytes) {
    ByteCursor row = in.sub(tables.section_bytes);
    ElfSection section;
    names.push_back(row.read<std::uint32_t>());
    section.type = row.read<std::uint32_t>();
    section.flags = row.read<std::uint64_t>();
    section.address = row.read<std::uint64_t>();
    section.offset = row.read<std::uint64_t>();
    section.size = row.read<std::uint64_t>();
    section.link = row.read<std::uint32_t>();
    section.info = row.read<std::uint32_t>();
    section.alignment = row.read<std::uint64_t>();
    section.entry_bytes = row.read<std::uint64_t>();
    parts.sections.push_back(std::move(section));
  }
  if (tables.names >= parts.sections.size()) {
    return;
  }
  const Bytes texts = section_bytes(file, parts.sections[tables.names], kMostTable);
  for (std::size_t i = 0; i < names.size(); ++i) {
    ByteCursor name(texts, 0);
    name.seek(names[i]);
    parts.sections[i].name = name.read_c_string();
  }
}

}  // namespace

bool ElfSection::has_bytes() const {
  return type != 0 && type != kElfNoBits && size != 0;
}

std::uint32_t ElfParts::find(std::string_view name) const {
  std::uint32_t found = 0;
  for (std::uint32_t i = 1; i < sections.size(); ++i) {
    if (sections[i].name == name && (found == 0 || !sections[found].has_bytes())) {
      found = i;
    }
  }
  return found;
}

Result<ElfParts> read_elf_parts(io::ByteSource& file) {
  const Bytes header = part_of(file, 0, kElfFileHeaderBytes, kElfFileHeaderBytes);
  ByteCursor in(header, 0);
  if (in.read<std::uint32_t>() != kMagic || in.read<std::uint16_t>() != kLittle64) {
    return Error{ErrorCode::kUnsupported, 0, "elf: not a little-endian ELF file of 64 bits"};
  }
  ElfParts parts;
  Tables tables;
  in.seek(16);
  parts.type = in.read<std::uint16_t>();
  parts.machine = in.read<std::uint16_t>();
  in.skip(4);  // version
  parts.entry = in.read<std::uint64_t>();
  tables.segments_at = in.read<std::uint64_t>();
  tables.sections_at = in.read<std::uint64_t>();
  parts.flags = in.read<std::uint32_t>();
  in.skip(2);  // size of this header
  tables.segment_bytes = in.read<std::uint16_t>();
  tables.segments = in.read<std::uint16_t>();
  tables.section_bytes = in.read<std::uint16_t>();
  tables.sections = in.read<std::uint16_t>();
  tables.names = in.read<std::uint16_t>();
  read_segments(file, tables, parts);
  read_sections(file, tables, parts);
  return parts;
}

std::vector<std::byte> section_bytes(io::ByteSource& file, const ElfSection& section,
                                     std::uint64_t most) {
  return section.has_bytes() ? part_of(file, section.offset, section.size, most) : Bytes();
}

}  // namespace stackpack::app
