#include "elf/elf_headers.h"

#include <algorithm>
#include <span>

namespace stackpack::elf {

namespace {

using bytes::ByteCursor;
using Bytes = std::vector<std::byte>;

constexpr std::uint32_t kMagic = 0x464C'457F;
constexpr std::uint8_t kClass32 = 1;
constexpr std::uint8_t kClass64 = 2;
constexpr std::uint8_t kLittle = 1;
constexpr std::uint8_t kBig = 2;
constexpr std::uint64_t kIdentBytes = 16;
constexpr std::uint32_t kExtendedIndex = 0xFFFF;  // SHN_XINDEX

// Sizes of headers of 32 and 64 bits.
struct Sizes {
  std::uint64_t file = 0;
  std::uint64_t segment = 0;
  std::uint64_t section = 0;
};
constexpr Sizes kSizes32{52, 32, 40};
constexpr Sizes kSizes64{64, 56, 64};

class HeaderReader {
 public:
  explicit HeaderReader(io::ByteSource& file) : file_(file) {}

  Result<Headers> run() {
    if (const Status read = read_file_header(); !read) {
      return read.error();
    }
    read_segments();
    read_sections();
    return std::move(headers_);
  }

 private:
  [[nodiscard]] const Sizes& sizes() const { return headers_.is_64_bit ? kSizes64 : kSizes32; }
  [[nodiscard]] std::uint64_t word(ByteCursor& in) const {
    return headers_.is_64_bit ? in.read<std::uint64_t>() : in.read<std::uint32_t>();
  }

  Status read_file_header() {
    const std::uint64_t size = std::min(kSizes64.file, file_.size().value_or(0));
    const Bytes bytes = read_part(file_, 0, size, size);
    ByteCursor ident(bytes, 0);
    if (ident.read<std::uint32_t>() != kMagic) {
      return Error{ErrorCode::kUnsupported, 0, "elf: not an ELF file"};
    }
    const auto word_class = ident.read<std::uint8_t>();
    const auto order = ident.read<std::uint8_t>();
    if ((word_class != kClass32 && word_class != kClass64) || (order != kLittle && order != kBig)) {
      return Error{ErrorCode::kCorrupt, 4, "elf: unknown class or byte order"};
    }
    headers_.is_64_bit = word_class == kClass64;
    headers_.order = order == kLittle ? bytes::ByteOrder::kLittle : bytes::ByteOrder::kBig;
    ByteCursor in(bytes, 0, headers_.order);
    in.read_bytes(kIdentBytes);
    headers_.type = in.read<std::uint16_t>();
    headers_.machine = in.read<std::uint16_t>();
    in.skip(4);  // version
    headers_.entry = word(in);
    segments_at_ = word(in);
    headers_.sections_at = word(in);
    headers_.flags = in.read<std::uint32_t>();
    in.skip(2);  // size of this header
    segment_bytes_ = in.read<std::uint16_t>();
    segment_count_ = in.read<std::uint16_t>();
    headers_.section_bytes = in.read<std::uint16_t>();
    section_count_ = in.read<std::uint16_t>();
    names_ = in.read<std::uint16_t>();
    return in.ok() ? Status{}
                   : Status(Error{ErrorCode::kTruncated, bytes.size(), "elf: header is cut"});
  }

  void read_segments() {
    if (segment_bytes_ < sizes().segment) {
      return;
    }
    const Bytes table = read_part(file_, segments_at_,
                                  std::uint64_t{segment_count_} * segment_bytes_, kMostTableBytes);
    ByteCursor in(table, segments_at_, headers_.order);
    while (in.remaining() >= segment_bytes_) {
      headers_.segments.push_back(segment_of(in.sub(segment_bytes_)));
    }
  }

  [[nodiscard]] Segment segment_of(ByteCursor row) const {
    Segment segment;
    segment.type = row.read<std::uint32_t>();
    segment.flags = headers_.is_64_bit ? row.read<std::uint32_t>() : 0;
    segment.offset = word(row);
    segment.address = word(row);
    row.skip(headers_.is_64_bit ? 8 : 4);  // physical address
    segment.file_bytes = word(row);
    segment.memory_bytes = word(row);
    segment.flags |= headers_.is_64_bit ? 0 : row.read<std::uint32_t>();
    segment.alignment = word(row);
    return segment;
  }

  void read_sections() {
    if (headers_.sections_at == 0 || headers_.section_bytes < sizes().section) {
      return;
    }
    if (section_count_ == 0 || names_ == kExtendedIndex) {
      // Numbers that do not fit the header are in the first section.
      const Bytes first = read_part(file_, headers_.sections_at, sizes().section, kMostTableBytes);
      const Section section = section_of(ByteCursor(first, headers_.sections_at, headers_.order));
      section_count_ = section_count_ != 0               ? section_count_
                       : section.size <= kMostTableBytes ? section.size
                                                         : 0;
      names_ = names_ == kExtendedIndex ? section.link : names_;
    }
    const Bytes table = read_part(file_, headers_.sections_at,
                                  section_count_ * headers_.section_bytes, kMostTableBytes);
    ByteCursor in(table, headers_.sections_at, headers_.order);
    while (in.remaining() >= headers_.section_bytes) {
      headers_.sections.push_back(section_of(in.sub(headers_.section_bytes)));
    }
    if (names_ < headers_.sections.size()) {
      const Section& names = headers_.sections[names_];
      headers_.names = read_part(file_, names.offset, names.size, kMostTableBytes);
    }
  }

  [[nodiscard]] Section section_of(ByteCursor row) const {
    Section section;
    section.name = row.read<std::uint32_t>();
    section.type = row.read<std::uint32_t>();
    section.flags = word(row);
    section.address = word(row);
    section.offset = word(row);
    section.size = word(row);
    section.link = row.read<std::uint32_t>();
    section.info = row.read<std::uint32_t>();
    section.alignment = word(row);
    section.entry_bytes = word(row);
    return section;
  }

  io::ByteSource& file_;
  Headers headers_;
  std::uint64_t segments_at_ = 0;
  std::uint16_t segment_bytes_ = 0;
  std::uint16_t segment_count_ = 0;
  std::uint64_t section_count_ = 0;
  std::uint32_t names_ = 0;
};

}  // namespace

std::string_view Headers::name_of(const Section& section) const {
  if (section.name >= names.size()) {
    return {};
  }
  const std::span<const std::byte> all = names;
  ByteCursor in(all.subspan(section.name), section.name);
  return in.read_c_string();
}

Result<Headers> read_headers(io::ByteSource& file) {
  return HeaderReader(file).run();
}

std::vector<std::byte> read_part(io::ByteSource& file, std::uint64_t offset, std::uint64_t size,
                                 std::uint64_t most) {
  const std::uint64_t all = file.size().value_or(0);
  if (size == 0 || size > most || offset > all || size > all - offset) {
    return {};
  }
  Bytes part(static_cast<std::size_t>(size));
  return io::read_exactly_at(file, offset, part, "elf: the file is cut") ? part : Bytes();
}

}  // namespace stackpack::elf
