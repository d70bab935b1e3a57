#include "unwind/elf_layout.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "bytes/byte_cursor.h"
#include "codec/gzip_codec.h"
#include "codec/zstd_codec.h"

namespace stackpack::unwind {

namespace {

using bytes::ByteCursor;
using Bytes = std::vector<std::byte>;

// Sizes and numbers of the ELF specification, 64 bits.
constexpr std::size_t kElfHeaderBytes = 64;
constexpr std::size_t kProgramHeaderBytes = 56;
constexpr std::size_t kSectionHeaderBytes = 64;
constexpr std::uint32_t kMagic = 0x464C'457F;
constexpr std::uint16_t kIs64BitLittleEndian = 0x0102;  // class 2, data 1
constexpr std::uint16_t kMachineX64 = 62;
constexpr std::uint16_t kMachineAarch64 = 183;
constexpr std::uint32_t kSegmentLoad = 1;
constexpr std::uint32_t kSegmentEhFrame = 0x6474'e550;
constexpr std::uint32_t kSegmentExecutable = 1;
constexpr std::uint32_t kSectionNoBits = 8;
constexpr std::uint64_t kSectionCompressed = 0x800;
constexpr std::uint16_t kExtendedIndex = 0xFFFF;
constexpr std::uint64_t kMostTableBytes = std::uint64_t{16} << 20;

struct ProgramHeader {
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t memory_bytes = 0;
};

struct SectionHeader {
  std::uint32_t name = 0;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
};

class LayoutReader {
 public:
  explicit LayoutReader(io::ByteSource& file) : file_(file), file_bytes_(file.size().value_or(0)) {}

  Result<ElfLayout> run() {
    if (const Status read = read_header(); !read) {
      return read.error();
    }
    read_segments();
    read_sections();
    if (layout_.eh_frame.bytes.empty()) {
      find_by_segment();
    }
    return std::move(layout_);
  }

 private:
  // Bytes of the file; empty when it does not have them all, or they are too many.
  Bytes part(std::uint64_t offset, std::uint64_t size, std::uint64_t most) {
    if (size == 0 || size > most || offset > file_bytes_ || size > file_bytes_ - offset) {
      return {};
    }
    Bytes bytes(static_cast<std::size_t>(size));
    return io::read_exactly_at(file_, offset, bytes, "elf: the file is cut") ? bytes : Bytes();
  }

  Status read_header() {
    const Bytes bytes = part(0, kElfHeaderBytes, kElfHeaderBytes);
    ByteCursor in(bytes, 0);
    if (in.read<std::uint32_t>() != kMagic || in.read<std::uint16_t>() != kIs64BitLittleEndian) {
      return Error{ErrorCode::kUnsupported, 0, "elf: not a little-endian ELF file of 64 bits"};
    }
    in.seek(18);
    const auto machine = in.read<std::uint16_t>();
    if (machine != kMachineX64 && machine != kMachineAarch64) {
      return Error{ErrorCode::kUnsupported, 18, "elf: of a machine that is not known"};
    }
    layout_.machine = machine == kMachineX64 ? Machine::kX64 : Machine::kAarch64;
    in.skip(4);  // version
    layout_.entry = in.read<std::uint64_t>();
    segments_at_ = in.read<std::uint64_t>();
    sections_at_ = in.read<std::uint64_t>();
    in.skip(6);  // flags, size of this header
    segment_bytes_ = in.read<std::uint16_t>();
    segment_count_ = in.read<std::uint16_t>();
    section_bytes_ = in.read<std::uint16_t>();
    section_count_ = in.read<std::uint16_t>();
    names_ = in.read<std::uint16_t>();
    return {};
  }

  void read_segments() {
    if (segment_bytes_ < kProgramHeaderBytes) {
      return;
    }
    const Bytes table =
        part(segments_at_, std::uint64_t{segment_count_} * segment_bytes_, kMostTableBytes);
    ByteCursor in(table, segments_at_);
    while (in.remaining() >= segment_bytes_) {
      ByteCursor row = in.sub(segment_bytes_);
      ProgramHeader header;
      header.type = row.read<std::uint32_t>();
      header.flags = row.read<std::uint32_t>();
      header.offset = row.read<std::uint64_t>();
      header.address = row.read<std::uint64_t>();
      row.skip(8);  // physical address
      header.file_bytes = row.read<std::uint64_t>();
      header.memory_bytes = row.read<std::uint64_t>();
      segments_.push_back(header);
      if (header.type == kSegmentLoad && (header.flags & kSegmentExecutable) != 0) {
        // Of code the same as in the file, but for files of debug sections alone, which keep it.
        layout_.code.push_back({header.offset, header.address, header.memory_bytes});
      }
    }
  }

  static SectionHeader section_of(ByteCursor row) {
    SectionHeader header;
    header.name = row.read<std::uint32_t>();
    header.type = row.read<std::uint32_t>();
    header.flags = row.read<std::uint64_t>();
    header.address = row.read<std::uint64_t>();
    header.offset = row.read<std::uint64_t>();
    header.size = row.read<std::uint64_t>();
    header.link = row.read<std::uint32_t>();
    return header;
  }

  void read_sections() {
    if (sections_at_ == 0 || section_bytes_ < kSectionHeaderBytes) {
      return;
    }
    std::uint64_t count = section_count_;
    std::uint32_t names = names_;
    if (count == 0 || names_ == kExtendedIndex) {
      // Numbers that do not fit the header are in the first section.
      const Bytes first = part(sections_at_, kSectionHeaderBytes, kMostTableBytes);
      const SectionHeader header = section_of(ByteCursor(first, sections_at_));
      count = count != 0 ? count : std::min<std::uint64_t>(header.size, kMostTableBytes);
      names = names_ == kExtendedIndex ? header.link : names;
    }
    const Bytes table = part(sections_at_, count * section_bytes_, kMostTableBytes);
    ByteCursor in(table, sections_at_);
    std::vector<SectionHeader> sections;
    while (in.remaining() >= section_bytes_) {
      sections.push_back(section_of(in.sub(section_bytes_)));
    }
    if (names >= sections.size()) {
      return;
    }
    const Bytes texts = part(sections[names].offset, sections[names].size, kMostTableBytes);
    for (const SectionHeader& section : sections) {
      ByteCursor name(texts, 0);
      name.seek(section.name);
      take_section(section, name.read_c_string());
    }
  }

  void take_section(const SectionHeader& section, std::string_view name) {
    if (section.type == kSectionNoBits || section.size == 0) {
      return;
    }
    if (name == ".eh_frame") {
      load(section, false, layout_.eh_frame);
    } else if (name == ".eh_frame_hdr") {
      load(section, false, layout_.eh_frame_header);
    } else if (name == ".debug_frame" || name == ".zdebug_frame") {
      load(section, name[1] == 'z', layout_.debug_frame);
    }
  }

  // `old_compression`: the name says that the content is "ZLIB", its size, and the stream.
  void load(const SectionHeader& section, bool old_compression, LoadedSection& into) {
    if (!into.bytes.empty()) {
      return;  // the first of that name counts
    }
    Bytes bytes = part(section.offset, section.size, ElfLayout::kMostSectionBytes);
    if (old_compression || (section.flags & kSectionCompressed) != 0) {
      bytes = decompress(bytes, old_compression);
    }
    layout_.left_out |= bytes.empty();
    into.address = section.address;
    into.bytes = std::move(bytes);
  }

  static Bytes decompress(const Bytes& stored, bool old_compression) {
    constexpr std::uint32_t kZlib = 1;
    constexpr std::uint32_t kZstd = 2;
    ByteCursor in(stored, 0);
    std::uint32_t type = kZlib;
    std::uint64_t size = 0;
    if (old_compression) {
      in.skip(4);  // "ZLIB"
      ByteCursor big(in.rest(), 0, bytes::ByteOrder::kBig);
      size = big.read<std::uint64_t>();
      in.skip(8);
    } else {
      type = in.read<std::uint32_t>();
      in.skip(4);
      size = in.read<std::uint64_t>();
      in.skip(8);  // alignment
    }
    if (!in.ok() || size == 0 || size > ElfLayout::kMostSectionBytes) {
      return {};
    }
    Bytes content(static_cast<std::size_t>(size));
    const Status done = type == kZlib   ? codec::inflate_zlib(in.rest(), content)
                        : type == kZstd ? codec::ZstdDecompressor().decompress(in.rest(), content)
                                        : Status(in.corrupt("elf: unknown compression"));
    return done ? content : Bytes();
  }

  // Without a table of sections, the segment of the header says where the frames begin. Where they
  // end is not said: at the end of what is mapped together.
  void find_by_segment() {
    const auto hint =
        std::find_if(segments_.begin(), segments_.end(),
                     [](const ProgramHeader& segment) { return segment.type == kSegmentEhFrame; });
    if (hint == segments_.end()) {
      return;
    }
    if (layout_.eh_frame_header.bytes.empty()) {
      layout_.eh_frame_header = {
          hint->address, part(hint->offset, hint->file_bytes, ElfLayout::kMostSectionBytes)};
    }
    constexpr std::uint8_t kRelativeToPlace = 0x1B;  // 4 bytes, signed
    ByteCursor in(layout_.eh_frame_header.bytes, 0);
    in.skip(1);
    const auto encoding = in.read<std::uint8_t>();
    in.skip(2);
    const auto distance = static_cast<std::int32_t>(in.read<std::uint32_t>());
    if (!in.ok() || encoding != kRelativeToPlace) {
      return;
    }
    const std::uint64_t address =
        layout_.eh_frame_header.address + 4 + static_cast<std::uint64_t>(std::int64_t{distance});
    for (const ProgramHeader& segment : segments_) {
      const std::uint64_t inside = address - segment.address;
      if (segment.type == kSegmentLoad && inside < segment.file_bytes) {
        layout_.eh_frame = {address, part(segment.offset + inside, segment.file_bytes - inside,
                                          ElfLayout::kMostSectionBytes)};
        return;
      }
    }
  }

  io::ByteSource& file_;
  std::uint64_t file_bytes_;
  std::uint64_t segments_at_ = 0;
  std::uint64_t sections_at_ = 0;
  std::uint16_t segment_bytes_ = 0;
  std::uint16_t segment_count_ = 0;
  std::uint16_t section_bytes_ = 0;
  std::uint16_t section_count_ = 0;
  std::uint16_t names_ = 0;
  std::vector<ProgramHeader> segments_;
  ElfLayout layout_;
};

}  // namespace

std::optional<std::uint64_t> ElfLayout::address_of(std::uint64_t offset) const {
  for (const CodeSegment& segment : code) {
    if (offset - segment.offset < segment.bytes) {
      return segment.address + (offset - segment.offset);
    }
  }
  return std::nullopt;
}

Result<ElfLayout> read_elf_layout(io::ByteSource& file) {
  return LayoutReader(file).run();
}

}  // namespace stackpack::unwind
