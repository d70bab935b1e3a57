#include "codec/zip_directory.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "bytes/byte_cursor.h"
#include "bytes/utf8.h"
#include "codec/zip_layout.h"

namespace stackpack::codec {

namespace {

// Characters 0x80 to 0xFF of code page 437.
constexpr std::u32string_view kUpperHalf =
    U"ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐"
    U"└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00A0";
static_assert(kUpperHalf.size() == 128);

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = bytes::utf8_length(text);
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

using bytes::ByteCursor;

constexpr std::uint16_t kZip64Field = 1;
constexpr std::uint32_t kElsewhere = 0xFFFF'FFFF;  // the number is in the zip64 field
constexpr std::uint16_t kShortElsewhere = 0xFFFF;

Error damaged_directory(std::uint64_t offset) {
  return {ErrorCode::kCorrupt, offset, "zip: the directory of members is damaged"};
}

/// Where the central directory is, and how much it has.
struct DirectoryPlace {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
};

// Up to `size` bytes from `offset`. A file that has become shorter has fewer.
Result<std::vector<std::byte>> read_part(io::ByteSource& source, std::uint64_t offset,
                                         std::uint64_t size) {
  std::vector<std::byte> part(static_cast<std::size_t>(size));
  const Result<std::size_t> count = source.read_at(offset, part);
  if (!count) {
    return count.error();
  }
  part.resize(*count);
  return part;
}

Error several_parts(std::uint64_t offset) {
  return {ErrorCode::kUnsupported, offset, "zip: a part of a multi-part archive"};
}

Result<DirectoryPlace> read_zip64_record(ByteCursor fields, std::uint64_t record_at) {
  const bool is_record = fields.read<std::uint32_t>() == kZip64End;
  fields.skip(8 + 2 + 2);  // its size, versions
  const auto this_disk = fields.read<std::uint32_t>();
  const auto first_disk = fields.read<std::uint32_t>();
  const auto entries_here = fields.read<std::uint64_t>();
  DirectoryPlace place;
  place.entries = fields.read<std::uint64_t>();
  place.bytes = fields.read<std::uint64_t>();
  place.at = fields.read<std::uint64_t>();
  if (!fields.ok() || !is_record || place.at > record_at || place.bytes > record_at - place.at) {
    return damaged_directory(record_at);
  }
  return this_disk == 0 && first_disk == 0 && entries_here == place.entries
             ? Result<DirectoryPlace>(place)
             : several_parts(record_at);
}

// The record of zip64, which has the numbers that the other one has no room for. `end_at`: of that.
Result<DirectoryPlace> read_zip64_place(io::ByteSource& source, std::uint64_t end_at) {
  if (end_at < kZipLocatorBytes) {
    return damaged_directory(end_at);
  }
  const auto locator = read_part(source, end_at - kZipLocatorBytes, kZipLocatorBytes);
  if (!locator) {
    return locator.error();
  }
  ByteCursor in(*locator, end_at - kZipLocatorBytes);
  const bool is_locator = in.read<std::uint32_t>() == kZip64Locator;
  const auto disk = in.read<std::uint32_t>();
  const auto record_at = in.read<std::uint64_t>();
  const auto disks = in.read<std::uint32_t>();
  if (!in.ok() || !is_locator || record_at > end_at - kZipLocatorBytes) {
    return damaged_directory(end_at);
  }
  if (disk != 0 || disks > 1) {
    return several_parts(end_at);
  }
  const auto record = read_part(source, record_at, kZip64EndBytes);
  if (!record) {
    return record.error();
  }
  return read_zip64_record(ByteCursor(*record, record_at), record_at);
}

// The record that ends the archive, which `in` stands at.
Result<DirectoryPlace> read_place(io::ByteSource& source, ByteCursor in) {
  const std::uint64_t end_at = in.offset();
  in.skip(sizeof kZipEnd);
  const auto disk = in.read<std::uint16_t>();
  const auto first_disk = in.read<std::uint16_t>();
  const auto entries_here = in.read<std::uint16_t>();
  const auto entries = in.read<std::uint16_t>();
  const auto bytes = in.read<std::uint32_t>();
  const auto at = in.read<std::uint32_t>();
  if (entries == kShortElsewhere || bytes == kElsewhere || at == kElsewhere) {
    return read_zip64_place(source, end_at);
  }
  if (disk != 0 || first_disk != 0 || entries_here != entries) {
    return several_parts(end_at);
  }
  if (at > end_at || bytes > end_at - at) {
    return damaged_directory(end_at);
  }
  return DirectoryPlace{at, bytes, entries};
}

// The record is the last one whose comment ends where the file ends.
Result<DirectoryPlace> find_directory(io::ByteSource& source) {
  constexpr std::uint64_t kMostBytes = kZipEndBytes + 0xFFFF;
  const std::uint64_t size = source.size().value_or(0);
  const std::uint64_t tail_at = size - std::min(size, kMostBytes);
  const auto tail = read_part(source, tail_at, size - tail_at);
  if (!tail) {
    return tail.error();
  }
  for (std::size_t left = kZipEndBytes; left <= tail->size(); ++left) {
    const std::size_t at = tail->size() - left;
    const std::span<const std::byte> rest = std::span(*tail).subspan(at);
    ByteCursor in(rest, tail_at + at);
    if (in.read<std::uint32_t>() != kZipEnd) {
      continue;
    }
    in.skip(kZipEndBytes - sizeof kZipEnd - sizeof(std::uint16_t));
    if (in.read<std::uint16_t>() == in.remaining()) {
      return read_place(source, ByteCursor(rest, tail_at + at));
    }
  }
  return Error{ErrorCode::kCorrupt, kNoOffset, "zip: not a readable archive"};
}

// Puts numbers in place that the fixed part has no room for. False: they are not there.
bool read_zip64_field(ByteCursor extra, bool has_size, bool has_compressed_size, bool has_offset,
                      ZipEntry& entry) {
  while (extra.ok() && extra.remaining() >= 4) {
    const auto id = extra.read<std::uint16_t>();
    ByteCursor field = extra.sub(extra.read<std::uint16_t>());
    if (id != kZip64Field) {
      continue;
    }
    const auto take = [&field](bool wanted, std::uint64_t& number) {
      number = wanted ? field.read<std::uint64_t>() : number;
    };
    take(has_size, entry.size);
    take(has_compressed_size, entry.compressed_size);
    take(has_offset, entry.header_at);
    return field.ok();
  }
  return false;
}

// One entry. False: it is damaged.
bool read_entry(ByteCursor& in, ZipEntry& entry) {
  const bool is_entry = in.read<std::uint32_t>() == kZipDirectoryEntry;
  in.skip(2 + 2);  // versions
  entry.flags = in.read<std::uint16_t>();
  entry.method = in.read<std::uint16_t>();
  in.skip(2 + 2);  // time, date
  entry.checksum = in.read<std::uint32_t>();
  const auto compressed_size = in.read<std::uint32_t>();
  const auto size = in.read<std::uint32_t>();
  const auto name_bytes = in.read<std::uint16_t>();
  const auto extra_bytes = in.read<std::uint16_t>();
  const auto comment_bytes = in.read<std::uint16_t>();
  in.skip(2 + 2 + 4);  // disk, attributes
  const auto header_at = in.read<std::uint32_t>();
  ByteCursor name = in.sub(name_bytes);
  const ByteCursor extra = in.sub(extra_bytes);
  in.skip(comment_bytes);
  if (!in.ok() || !is_entry) {
    return false;
  }
  entry.name = zip_name(name.read_c_string(), (entry.flags & kZipUtf8) != 0);
  entry.size = size;
  entry.compressed_size = compressed_size;
  entry.header_at = header_at;
  const bool is_long =
      size == kElsewhere || compressed_size == kElsewhere || header_at == kElsewhere;
  return !is_long || read_zip64_field(extra, size == kElsewhere, compressed_size == kElsewhere,
                                      header_at == kElsewhere, entry);
}

// Each byte of an archive belongs to one member at most. Else a small archive could hold the same
// large content many times over. `end`: of all members.
Status fence(std::vector<ZipEntry>& entries, std::uint64_t end) {
  std::vector<ZipEntry*> by_place;
  by_place.reserve(entries.size());
  for (ZipEntry& entry : entries) {
    by_place.push_back(&entry);
  }
  std::sort(by_place.begin(), by_place.end(),
            [](const ZipEntry* a, const ZipEntry* b) { return a->header_at > b->header_at; });
  for (ZipEntry* const entry : by_place) {
    entry->end = end;
    if (entry->header_at > end || end - entry->header_at < kZipLocalHeaderBytes ||
        end - entry->header_at - kZipLocalHeaderBytes < entry->compressed_size) {
      return Error{ErrorCode::kCorrupt, entry->header_at, "zip: members overlap"};
    }
    end = entry->header_at;
  }
  return {};
}

}  // namespace

std::string zip_name(std::string_view stored, bool is_utf8) {
  if (is_utf8 || is_valid_utf8(stored)) {
    return std::string(stored);
  }
  constexpr unsigned kAscii = 0x80;
  std::string name;
  for (const char letter : stored) {
    const auto byte = static_cast<unsigned char>(letter);
    bytes::append_utf8(byte < kAscii ? byte : kUpperHalf[byte - kAscii], name);
  }
  return name;
}

Result<std::vector<ZipEntry>> read_zip_directory(io::ByteSource& source) {
  const Result<DirectoryPlace> place = find_directory(source);
  if (!place) {
    return place.error();
  }
  if (place->bytes > kMostZipDirectoryBytes) {
    return Error{ErrorCode::kLimit, place->at, "zip: more members than an archive may have here"};
  }
  const auto directory = read_part(source, place->at, place->bytes);
  if (!directory) {
    return directory.error();
  }
  if (place->entries > directory->size() / kZipDirectoryEntryBytes) {
    return damaged_directory(place->at);
  }
  ByteCursor in(*directory, place->at);
  std::vector<ZipEntry> entries(static_cast<std::size_t>(place->entries));
  for (ZipEntry& entry : entries) {
    const std::uint64_t at = in.offset();
    if (!read_entry(in, entry)) {
      return damaged_directory(at);
    }
  }
  // A number that says less than there is would hide members.
  if (ByteCursor rest = in; rest.read<std::uint32_t>() == kZipDirectoryEntry) {
    return damaged_directory(in.offset());
  }
  if (const Status fenced = fence(entries, place->at); !fenced) {
    return fenced.error();
  }
  return entries;
}

Result<std::uint64_t> find_zip_content(io::ByteSource& source, const ZipEntry& entry) {
  const auto header = read_part(source, entry.header_at, kZipLocalHeaderBytes);
  if (!header) {
    return header.error();
  }
  ByteCursor in(*header, entry.header_at);
  const bool is_header = in.read<std::uint32_t>() == kZipLocalHeader;
  in.skip(2);  // version
  const bool same_flags = ((in.read<std::uint16_t>() ^ entry.flags) & kZipEncrypted) == 0;
  const bool same_method = in.read<std::uint16_t>() == entry.method;
  in.skip(2 + 2 + 4 + 4 + 4);  // time, date; checksum and sizes, which may come after the content
  const std::uint64_t names = in.read<std::uint16_t>() + std::uint64_t{in.read<std::uint16_t>()};
  if (!in.ok() || !is_header || !same_flags || !same_method) {
    return Error{ErrorCode::kCorrupt, entry.header_at, "zip: a member is not where it should be"};
  }
  const std::uint64_t room = entry.end - entry.header_at - kZipLocalHeaderBytes;
  if (names > room || entry.compressed_size > room - names) {
    return Error{ErrorCode::kCorrupt, entry.header_at, "zip: members overlap"};
  }
  return entry.header_at + kZipLocalHeaderBytes + names;
}

}  // namespace stackpack::codec
