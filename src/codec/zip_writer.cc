#include "codec/zip_writer.h"

#include <zlib.h>

#include "bytes/byte_writer.h"

namespace stackpack::codec {

namespace {

constexpr std::uint32_t kLocalHeader = 0x0403'4B50;
constexpr std::uint32_t kTableEntry = 0x0201'4B50;
constexpr std::uint32_t kTableEnd = 0x0605'4B50;
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
  out.write(std::uint16_t{0});  // stored
  out.write(std::uint16_t{0});  // time
  out.write(kFirstDay);
  out.write(checksum);
  out.write(size);  // compressed
  out.write(size);
  out.write(static_cast<std::uint16_t>(name.size()));
  out.write(std::uint16_t{0});  // extra field
}

}  // namespace

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
  header.write(kLocalHeader);
  write_common(header, checksum, size, name);
  header.write_text(name);
  const Status written = put(header.bytes());
  return written ? put(content) : written;
}

Status ZipWriter::finish() {
  const auto table_at = static_cast<std::uint32_t>(offset_);
  bytes::ByteWriter table;
  for (const Member& member : members_) {
    table.write(kTableEntry);
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
  const auto count = static_cast<std::uint16_t>(members_.size());
  table.write(kTableEnd);
  table.write(std::uint32_t{0});  // disks
  table.write(count);
  table.write(count);
  table.write(table_bytes);
  table.write(table_at);
  table.write(std::uint16_t{0});  // comment
  return put(table.bytes());
}

}  // namespace stackpack::codec
