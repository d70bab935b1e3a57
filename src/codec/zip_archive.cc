#include "codec/zip_archive.h"

#include <utility>

#include "bytes/byte_cursor.h"
#include "codec/growth_limit.h"
#include "codec/zip_directory.h"
#include "codec/zip_layout.h"
#include "codec/zip_member.h"

namespace stackpack::codec {

struct ZipArchive::Handle {
  io::ByteSource& source;
  std::vector<ZipEntry> entries;  // by member
};

ZipArchive::ZipArchive(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {
  for (const ZipEntry& entry : handle_->entries) {
    members_.push_back({entry.name, entry.size, entry.compressed_size});
  }
}
ZipArchive::~ZipArchive() = default;

bool ZipArchive::looks_like_zip(std::span<const std::byte> head) {
  return bytes::ByteCursor(head, 0).read<std::uint32_t>() == kZipLocalHeader;
}

Result<std::unique_ptr<ZipArchive>> ZipArchive::open(io::ByteSource& source) {
  if (!source.seekable()) {
    return Error{ErrorCode::kUnsupported, kNoOffset, "zip: input cannot be read at an offset"};
  }
  Result<std::vector<ZipEntry>> entries = read_zip_directory(source);
  if (!entries) {
    return entries.error();
  }
  auto handle = std::make_unique<Handle>(Handle{source, std::move(*entries)});
  return std::unique_ptr<ZipArchive>(new ZipArchive(std::move(handle)));
}

Result<std::vector<std::byte>> ZipArchive::read_head(std::size_t member, std::size_t size) {
  const auto stream = open_zip_member(handle_->source, handle_->entries[member]);
  if (!stream) {
    return stream.error();
  }
  std::vector<std::byte> head(size);
  std::size_t done = 0;
  while (done < size) {
    const Result<std::size_t> count = (*stream)->read(std::span(head).subspan(done));
    if (!count && count.error().code != ErrorCode::kCorrupt) {
      return count.error();
    }
    if (!count || *count == 0) {
      break;
    }
    done += *count;
  }
  head.resize(done);
  return head;
}

Status ZipArchive::check_size(std::size_t member, std::uint64_t limit) const {
  const ZipEntry& claims = handle_->entries[member];
  if (claims.size > limit) {
    return Error{ErrorCode::kLimit, claims.header_at, "zip: member claims to be too large"};
  }
  if (grows_too_much(claims.size, claims.compressed_size)) {
    return Error{
        ErrorCode::kLimit, claims.header_at,
        "zip: member grows to more than 256 times its size; unpack it first if that is right"};
  }
  return {};
}

Result<std::vector<std::byte>> ZipArchive::read(std::size_t member, std::uint64_t limit) {
  if (const Status fits = check_size(member, limit); !fits) {
    return fits.error();
  }
  const auto stream = open_zip_member(handle_->source, handle_->entries[member]);
  if (!stream) {
    return stream.error();
  }
  // A byte more than it claims: size and checksum are looked at after the last byte.
  std::vector<std::byte> content(static_cast<std::size_t>(members_[member].size) + 1);
  std::size_t done = 0;
  while (true) {
    const Result<std::size_t> count = (*stream)->read(std::span(content).subspan(done));
    if (!count) {
      return count.error();
    }
    if (*count == 0) {
      content.resize(done);
      return content;
    }
    done += *count;
  }
}

Result<std::unique_ptr<io::ByteSource>> ZipArchive::extract(std::size_t member,
                                                            const std::string& directory,
                                                            std::uint64_t limit) {
  if (const Status fits = check_size(member, limit); !fits) {
    return fits.error();
  }
  const auto stream = open_zip_member(handle_->source, handle_->entries[member]);
  if (!stream) {
    return stream.error();
  }
  return io::spool_to_temporary(**stream, directory, members_[member].size);
}

}  // namespace stackpack::codec
