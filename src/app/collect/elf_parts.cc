#include "app/collect/elf_parts.h"

#include <string_view>

namespace stackpack::app {

bool ElfSection::has_bytes() const {
  return type != 0 && type != elf::kSectionNoBits && size != 0;
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
  const Result<elf::Headers> headers = elf::read_headers(file);
  if (!headers || !headers->is_little_64()) {
    return Error{ErrorCode::kUnsupported, 0, "elf: not a little-endian ELF file of 64 bits"};
  }
  ElfParts parts;
  parts.type = headers->type;
  parts.machine = headers->machine;
  parts.flags = headers->flags;
  parts.entry = headers->entry;
  for (const elf::Segment& segment : headers->segments) {
    if (segment.type == elf::kSegmentLoad) {
      parts.segments.push_back(segment);
    }
  }
  for (const elf::Section& section : headers->sections) {
    parts.sections.push_back({section, std::string(headers->name_of(section))});
  }
  return parts;
}

std::vector<std::byte> section_bytes(io::ByteSource& file, const ElfSection& section,
                                     std::uint64_t most) {
  return section.has_bytes() ? elf::read_part(file, section.offset, section.size, most)
                             : std::vector<std::byte>();
}

}  // namespace stackpack::app
