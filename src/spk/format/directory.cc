#include "spk/format/directory.h"

#include <algorithm>
#include <string_view>

#include "bytes/byte_cursor.h"
#include "bytes/byte_writer.h"
#include "bytes/hash.h"
#include "codec/zstd_codec.h"

namespace stackpack::spk {

namespace {

constexpr std::size_t kHashBytes = 8;
constexpr std::size_t kMagicBytes = 8;
constexpr std::size_t kTrailerHashOffset = kTrailerBytes - kMagicBytes - kHashBytes;

// u16 major, u16 minor.
constexpr std::uint32_t kVersionWord = kFormatMajor | std::uint32_t{kFormatMinor} << 16;

bool has_text(std::span<const std::byte> bytes, std::string_view text) {
  const auto wanted = std::as_bytes(std::span(text));
  return std::equal(bytes.begin(), bytes.end(), wanted.begin(), wanted.end());
}

// Not inlined: g++ 12 sees writes past the end in the growth of the vector otherwise.
[[gnu::noinline]] void write_frame_header(bytes::ByteWriter& out, unsigned nibble,
                                          std::size_t frame_bytes) {
  out.write(kSkippableMagic + nibble);
  out.write(static_cast<std::uint32_t>(frame_bytes - kSkippableHeaderBytes));
}

bool read_frame_header(bytes::ByteCursor& in, unsigned nibble) {
  const bool magic = in.read<std::uint32_t>() == kSkippableMagic + nibble;
  return in.read<std::uint32_t>() == in.remaining() && magic && in.ok();
}

Status check_version(std::uint16_t major, std::uint64_t offset) {
  if (major != kFormatMajor) {
    return Error{ErrorCode::kUnsupported, offset, "spk: made by another major format version"};
  }
  return {};
}

void write_section(const SectionRecord& section, bytes::ByteWriter& out) {
  out.write(section.kind);
  out.write(section.flags);
  out.write(section.offset);
  out.write(section.stored_bytes);
  out.write(section.raw_bytes);
  out.write(section.items);
  out.write(section.block_count);
  out.write(std::uint64_t{0});
  out.write(std::uint64_t{0});
}

SectionRecord read_section(bytes::ByteCursor& in, bool& reserved_zero) {
  SectionRecord section;
  section.kind = in.read<std::uint32_t>();
  section.flags = in.read<std::uint32_t>();
  section.offset = in.read<std::uint64_t>();
  section.stored_bytes = in.read<std::uint64_t>();
  section.raw_bytes = in.read<std::uint64_t>();
  section.items = in.read<std::uint64_t>();
  section.block_count = in.read<std::uint64_t>();
  reserved_zero = (in.read<std::uint64_t>() | in.read<std::uint64_t>()) == 0 &&
                  (section.flags & ~kSectionFlagMask) == 0;
  return section;
}

// The listed blocks of one section: they must fill it.
Status read_blocks(bytes::ByteCursor& in, SectionRecord& section) {
  if (section.block_count > in.remaining() / kBlockRecordBytes) {
    return in.corrupt("spk: directory: block count");
  }
  section.blocks.reserve(static_cast<std::size_t>(section.block_count));
  std::uint64_t stored = 0;
  std::uint64_t raw = 0;
  for (std::uint64_t i = 0; i < section.block_count; ++i) {
    BlockRecord block;
    block.stored_bytes = in.read<std::uint32_t>();
    block.raw_bytes = in.read<std::uint32_t>();
    block.hash = in.read<std::uint64_t>();
    if (block.stored_bytes == 0 || block.raw_bytes > kMaxBlockBytes) {
      return in.corrupt("spk: directory: block size");
    }
    stored += block.stored_bytes;  // fewer than 2^32 blocks of less than 2^32 bytes
    raw += block.raw_bytes;
    section.blocks.push_back(block);
  }
  if (stored != section.stored_bytes || raw != section.raw_bytes) {
    return in.corrupt("spk: directory: blocks do not fill their section");
  }
  if (!keeps_table_bounds(static_cast<SectionKind>(section.kind), stored, raw)) {
    return in.corrupt("spk: directory: a table is too large for its bytes in the file");
  }
  if (section.kind == static_cast<std::uint32_t>(SectionKind::kIntervals) &&
      !keeps_interval_bounds(stored, section.items)) {
    return in.corrupt("spk: directory: too many intervals for their bytes in the file");
  }
  return {};
}

// Known kinds come once, with the flags of their kind; unknown ones must be skippable.
Status check_kind(const Directory& before, const SectionRecord& section, bytes::ByteCursor& in) {
  const auto* const known =
      std::find_if(kSectionNames.begin(), kSectionNames.end(), [&section](const SectionName& name) {
        return static_cast<std::uint32_t>(name.kind) == section.kind;
      });
  if (known == kSectionNames.end()) {
    if ((section.flags & kSectionRequired) != 0) {
      return Error{ErrorCode::kUnsupported, in.offset(), "spk: directory: unknown section"};
    }
    if ((section.flags & kSectionIndexed) != 0) {
      return in.corrupt("spk: directory: unknown section without a block list");
    }
    return {};
  }
  if (before.find(known->kind) != nullptr ||
      known->indexed != ((section.flags & kSectionIndexed) != 0)) {
    return in.corrupt("spk: directory: section repeated or with wrong flags");
  }
  return {};
}

}  // namespace

const SectionRecord* Directory::find(SectionKind kind) const {
  const auto found = std::find_if(sections.begin(), sections.end(), [kind](const auto& section) {
    return section.kind == static_cast<std::uint32_t>(kind);
  });
  return found == sections.end() ? nullptr : &*found;
}

std::vector<std::byte> encode_header() {
  bytes::ByteWriter out;
  write_frame_header(out, kHeaderNibble, kHeaderBytes);
  out.write_text(kHeaderMagic);
  out.write(kVersionWord);
  out.write(std::uint32_t{0});
  out.write(bytes::xxh3_64(out.bytes()));
  return out.take();
}

std::vector<std::byte> encode_tail(const Directory& directory, std::uint64_t offset) {
  bytes::ByteWriter body;
  body.write(static_cast<std::uint32_t>(directory.sections.size()));
  body.write(std::uint32_t{0});
  for (const SectionRecord& section : directory.sections) {
    write_section(section, body);
  }
  for (const SectionRecord& section : directory.sections) {
    for (const BlockRecord& block : section.blocks) {
      body.write(block.stored_bytes);
      body.write(block.raw_bytes);
      body.write(block.hash);
    }
  }
  std::vector<std::byte> tail;
  codec::append_skippable_frame(kDirectoryNibble, body.bytes(), tail);

  bytes::ByteWriter trailer;
  write_frame_header(trailer, kTrailerNibble, kTrailerBytes);
  trailer.write(offset);
  trailer.write(static_cast<std::uint64_t>(tail.size()));
  trailer.write(bytes::xxh3_64(tail));
  trailer.write(offset + tail.size() + kTrailerBytes);
  trailer.write(kVersionWord);
  trailer.write(std::uint32_t{0});
  trailer.write(bytes::xxh3_64(trailer.bytes()));
  trailer.write_text(kTrailerMagic);
  tail.insert(tail.end(), trailer.bytes().begin(), trailer.bytes().end());
  return tail;
}

bool looks_like_spk(std::span<const std::byte> head) {
  bytes::ByteCursor in(head, 0);
  const bool frame = in.read<std::uint32_t>() == kSkippableMagic + kHeaderNibble;
  in.skip(sizeof(std::uint32_t));
  return has_text(in.read_bytes(kMagicBytes), kHeaderMagic) && frame;
}

Status check_header(std::span<const std::byte> header) {
  bytes::ByteCursor in(header, 0);
  if (header.size() < kHeaderBytes) {
    return Error{ErrorCode::kTruncated, header.size(), "spk: header"};
  }
  const bool frame = read_frame_header(in, kHeaderNibble);
  if (!has_text(in.read_bytes(kMagicBytes), kHeaderMagic) || !frame) {
    return Error{ErrorCode::kCorrupt, 0, "spk: not a .spk file"};
  }
  const auto major = in.read<std::uint16_t>();
  in.skip(sizeof(std::uint16_t));  // any minor version will do
  const auto reserved = in.read<std::uint32_t>();
  if (in.read<std::uint64_t>() != bytes::xxh3_64(header.first(kHeaderBytes - kHashBytes))) {
    return Error{ErrorCode::kCorrupt, 0, "spk: header: checksum"};
  }
  if (const Status version = check_version(major, 0); !version) {
    return version;
  }
  if (reserved != 0) {
    return Error{ErrorCode::kCorrupt, 0, "spk: header: reserved bits"};
  }
  return {};
}

Result<Trailer> decode_trailer(std::span<const std::byte> trailer, std::uint64_t file_bytes) {
  if (trailer.size() < kTrailerBytes || file_bytes < kHeaderBytes + kTrailerBytes) {
    return Error{ErrorCode::kTruncated, file_bytes, "spk: trailer"};
  }
  const std::uint64_t at = file_bytes - kTrailerBytes;
  bytes::ByteCursor in(trailer, at);
  const bool frame = read_frame_header(in, kTrailerNibble);
  if (!has_text(trailer.last(kMagicBytes), kTrailerMagic) || !frame) {
    return Error{ErrorCode::kTruncated, at, "spk: no trailer: the end of the file is missing"};
  }
  Trailer result;
  result.directory_offset = in.read<std::uint64_t>();
  result.directory_bytes = in.read<std::uint64_t>();
  result.directory_hash = in.read<std::uint64_t>();
  result.file_bytes = in.read<std::uint64_t>();
  const auto major = in.read<std::uint16_t>();
  in.skip(sizeof(std::uint16_t));
  const auto reserved = in.read<std::uint32_t>();
  if (in.read<std::uint64_t>() != bytes::xxh3_64(trailer.first(kTrailerHashOffset))) {
    return Error{ErrorCode::kCorrupt, at, "spk: trailer: checksum"};
  }
  if (const Status version = check_version(major, at); !version) {
    return version.error();
  }
  if (result.file_bytes != file_bytes) {
    return Error{ErrorCode::kTruncated, at, "spk: trailer: file size"};
  }
  if (reserved != 0 || result.directory_offset < kHeaderBytes || result.directory_offset > at ||
      result.directory_bytes != at - result.directory_offset) {
    return Error{ErrorCode::kCorrupt, at, "spk: trailer: directory position"};
  }
  return result;
}

namespace {

// The sections follow each other from the header to the directory.
Status read_sections(bytes::ByteCursor& in, std::uint32_t count, const Trailer& trailer,
                     Directory& directory) {
  std::uint64_t next = kHeaderBytes;
  for (std::uint32_t i = 0; i < count; ++i) {
    bool reserved_zero = false;
    const SectionRecord section = read_section(in, reserved_zero);
    if (!reserved_zero || section.offset != next ||
        section.stored_bytes > trailer.directory_offset - next) {
      return in.corrupt("spk: directory: section record");
    }
    next += section.stored_bytes;
    if (const Status known = check_kind(directory, section, in); !known) {
      return known.error();
    }
    directory.sections.push_back(section);
  }
  return next == trailer.directory_offset
             ? Status()
             : in.corrupt("spk: directory: sections do not fill the file");
}

}  // namespace

Result<Directory> decode_directory(std::span<const std::byte> frame, const Trailer& trailer) {
  bytes::ByteCursor in(frame, trailer.directory_offset);
  if (bytes::xxh3_64(frame) != trailer.directory_hash) {
    return in.corrupt("spk: directory: checksum");
  }
  const bool header = read_frame_header(in, kDirectoryNibble);
  const auto count = in.read<std::uint32_t>();
  const auto reserved = in.read<std::uint32_t>();
  if (!header || !in.ok() || reserved != 0 || count > kMaxSections ||
      count > in.remaining() / kSectionRecordBytes) {
    return in.corrupt("spk: directory: section count");
  }
  Directory directory;
  if (const Status read = read_sections(in, count, trailer, directory); !read) {
    return read.error();
  }
  for (SectionRecord& section : directory.sections) {
    if ((section.flags & kSectionIndexed) != 0) {
      continue;
    }
    if (const Status blocks = read_blocks(in, section); !blocks) {
      return blocks.error();
    }
  }
  if (in.remaining() != 0) {
    return in.corrupt("spk: directory: bytes after the last block record");
  }
  return directory;
}

}  // namespace stackpack::spk
