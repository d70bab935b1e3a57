#include "codec/zip_writer.h"

#include <algorithm>

#include <zlib.h>

#include "bytes/byte_cursor.h"
#include "bytes/byte_writer.h"
#include "codec/zip_layout.h"

namespace stackpack::codec {

namespace {

constexpr std::uint16_t kVersion = 20;
constexpr std::uint16_t kFirstDay = 1U << 5 | 1U;  // 1 January 1980
constexpr std::uint64_t kMostBytes = 0xFFFF'FFFE;
constexpr std::size_t kMostMembers = 0xFFFE;
constexpr Error kTooLarge{ErrorCode::kLimit, kNoOffset,
                          "zip: more than an archive without extensions holds"};

// What a member's own header and its row of the table have in common.
void write_common(bytes::ByteWriter& out, std::uint32_t checksum, std::uint32_t size,
                  std::string_view name) {
  out.write(kVersion);
  out.write(std::uint16_t{0});  // flags
  out.write(kZipStored);
  out.write(std::uint16_t{0});  // time
  out.write(kFirstDay);
  out.write(checksum);
  out.write(size);  // compressed
  out.write(size);
  out.write(static_cast<std::uint16_t>(name.size()));
  out.write(std::uint16_t{0});  // extra field
}

void write_end(bytes::ByteWriter& out, std::uint16_t members, std::uint32_t table_bytes,
               std::uint32_t table_at) {
  out.write(kZipEnd);
  out.write(std::uint32_t{0});  // disks
  out.write(members);
  out.write(members);
  out.write(table_bytes);
  out.write(table_at);
  out.write(std::uint16_t{0});  // comment
}

}  // namespace

bool ZipWriter::wrote(std::span<const std::byte> head, std::string_view folder) {
  constexpr std::size_t kSizes = 12;  // checksum, sizes: what depends on the content
  bytes::ByteWriter first;
  first.write(kZipLocalHeader);
  write_common(first, 0, 0, folder);
  bytes::ByteWriter only;
  write_end(only, 0, 0, 0);
  if (std::ranges::equal(head, only.bytes())) {
    return true;
  }
  const std::span<const std::byte> fixed = first.bytes().first(first.size() - kSizes - 4);
  bytes::ByteCursor in(head, 0);
  const bool same = std::ranges::equal(in.read_bytes(fixed.size()), fixed);
  in.skip(kSizes);
  in.skip(sizeof(std::uint16_t));  // the length of the name
  const bool extended = in.read<std::uint16_t>() != 0;
  const std::span<const std::byte> name = in.read_bytes(folder.size());
  return same && in.ok() && !extended && std::ranges::equal(name, std::as_bytes(std::span(folder)));
}

Status ZipWriter::put(std::span<const std::byte> bytes) {
  offset_ += bytes.size();
  return offset_ <= kMostBytes ? write_(bytes) : Status(kTooLarge);
}

Status ZipWriter::add(std::string_view name, std::span<const std::byte> content) {
  if (content.size() > kMostBytes || name.size() > 0xFFFF || members_.size() == kMostMembers) {
    return kTooLarge;
  }
  const auto size = static_cast<std::uint32_t>(content.size());
  const auto checksum = static_cast<std::uint32_t>(::crc32_z(
      0, static_cast<const Bytef*>(static_cast<const void*>(content.data())), content.size()));
  members_.push_back({std::string(name), checksum, size, static_cast<std::uint32_t>(offset_)});
  bytes::ByteWriter header;
  header.write(kZipLocalHeader);
  write_common(header, checksum, size, name);
  header.write_text(name);
  const Status written = put(header.bytes());
  return written ? put(content) : written;
}

Status ZipWriter::finish() {
  const auto table_at = static_cast<std::uint32_t>(offset_);
  bytes::ByteWriter table;
  for (const Member& member : members_) {
    table.write(kZipDirectoryEntry);
    table.write(kVersion);
    write_common(table, member.checksum, member.size, member.name);
    table.write(std::uint16_t{0});  // comment
    table.write(std::uint16_t{0});  // disk
    table.write(std::uint16_t{0});  // content is binary
    table.write(std::uint32_t{0});  // attributes
    table.write(member.offset);
    table.write_text(member.name);
  }
  const auto table_bytes = static_cast<std::uint32_t>(table.size());
  write_end(table, static_cast<std::uint16_t>(members_.size()), table_bytes, table_at);
  return put(table.bytes());
}

}  // namespace stackpack::codec
