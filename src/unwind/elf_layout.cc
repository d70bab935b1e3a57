#include "unwind/elf_layout.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "bytes/byte_cursor.h"
#include "codec/gzip_codec.h"
#include "codec/zstd_codec.h"
#include "elf/elf_headers.h"

namespace stackpack::unwind {

namespace {

using bytes::ByteCursor;
using Bytes = std::vector<std::byte>;

// Numbers of the ELF specification.
constexpr std::uint16_t kMachineX64 = 62;
constexpr std::uint16_t kMachineAarch64 = 183;
constexpr std::uint32_t kSegmentEhFrame = 0x6474'e550;
constexpr std::uint64_t kSectionCompressed = 0x800;

class LayoutReader {
 public:
  LayoutReader(io::ByteSource& file, elf::Headers headers)
      : file_(file), headers_(std::move(headers)) {}

  ElfLayout run(Machine machine) {
    layout_.machine = machine;
    layout_.entry = headers_.entry;
    for (const elf::Segment& segment : headers_.segments) {
      if (segment.type == elf::kSegmentLoad && (segment.flags & elf::kSegmentExecute) != 0) {
        // Of code the same as in the file, but for files of debug sections alone, which keep it.
        layout_.code.push_back({segment.offset, segment.address, segment.memory_bytes});
      }
    }
    for (const elf::Section& section : headers_.sections) {
      take_section(section, headers_.name_of(section));
    }
    if (layout_.eh_frame.bytes.empty()) {
      find_by_segment();
    }
    return std::move(layout_);
  }

 private:
  Bytes part(std::uint64_t offset, std::uint64_t size) {
    return elf::read_part(file_, offset, size, ElfLayout::kMostSectionBytes);
  }

  void take_section(const elf::Section& section, std::string_view name) {
    if (section.type == elf::kSectionNoBits || section.size == 0) {
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
  void load(const elf::Section& section, bool old_compression, LoadedSection& into) {
    if (!into.bytes.empty()) {
      return;  // the first of that name counts
    }
    Bytes bytes = part(section.offset, section.size);
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
        std::find_if(headers_.segments.begin(), headers_.segments.end(),
                     [](const elf::Segment& segment) { return segment.type == kSegmentEhFrame; });
    if (hint == headers_.segments.end()) {
      return;
    }
    if (layout_.eh_frame_header.bytes.empty()) {
      layout_.eh_frame_header = {hint->address, part(hint->offset, hint->file_bytes)};
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
    for (const elf::Segment& segment : headers_.segments) {
      const std::uint64_t inside = address - segment.address;
      if (segment.type == elf::kSegmentLoad && inside < segment.file_bytes) {
        layout_.eh_frame = {address, part(segment.offset + inside, segment.file_bytes - inside)};
        return;
      }
    }
  }

  io::ByteSource& file_;
  const elf::Headers headers_;
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
  Result<elf::Headers> headers = elf::read_headers(file);
  if (!headers || !headers->is_little_64()) {
    return Error{ErrorCode::kUnsupported, 0, "elf: not a little-endian ELF file of 64 bits"};
  }
  const std::uint16_t machine = headers->machine;
  if (machine != kMachineX64 && machine != kMachineAarch64) {
    return Error{ErrorCode::kUnsupported, 18, "elf: unknown machine"};
  }
  return LayoutReader(file, std::move(*headers))
      .run(machine == kMachineX64 ? Machine::kX64 : Machine::kAarch64);
}

}  // namespace stackpack::unwind
