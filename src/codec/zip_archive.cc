#include "codec/zip_archive.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <zlib.h>

#include "bytes/byte_cursor.h"
#include "codec/decompressed_source.h"
#include "codec/gzip_codec.h"
#include "codec/zip_directory.h"
#include "codec/zip_layout.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::codec {

namespace {

constexpr std::size_t kInputStep = std::size_t{1} << 16;

std::uint32_t updated_crc(std::uint32_t crc, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(::crc32_z(
      crc, static_cast<const Bytef*>(static_cast<const void*>(bytes.data())), bytes.size()));
}

// Why a member cannot be read; empty: it can.
std::string_view obstacle_of(const ZipEntry& member) {
  struct Method {
    std::uint16_t number;
    std::string_view text;
  };
  static constexpr Method kMethods[] = {
      {kZipStored, ""},
      {kZipDeflated, ""},
      {9, "zip: member is packed by Deflate64, which is not read here; unpack it first"},
      {12, "zip: member is packed by bzip2, which is not read here; unpack it first"},
      {14, "zip: member is packed by LZMA, which is not read here; unpack it first"},
      {93, "zip: member is packed by zstd, which is not read here; unpack it first"},
      {95, "zip: member is packed by xz, which is not read here; unpack it first"},
      {98, "zip: member is packed by PPMd, which is not read here; unpack it first"},
      {99, "zip: member is encrypted; unpack it first"},
  };
  if ((member.flags & kZipEncrypted) != 0) {
    return "zip: member is encrypted; unpack it first";
  }
  const auto* const known = std::ranges::find_if(
      kMethods, [&](const Method& one) { return one.number == member.method; });
  return known != std::end(kMethods)
             ? known->text
             : "zip: member is packed by a method that is not read here; unpack it first";
}

class MemberSource final : public io::ByteSource {
 public:
  MemberSource(io::ByteSource& archive, const ZipEntry& member, std::uint64_t content_at)
      : archive_(archive), member_(member), at_(content_at) {
    if (member.method == kZipDeflated) {
      decoder_.emplace();
    }
  }

  Result<std::size_t> read(std::span<std::byte> into) override {
    if (into.empty()) {
      return std::size_t{0};
    }
    const Result<std::size_t> count = decoder_ ? inflate(into) : copy(into);
    if (!count) {
      return count.error();
    }
    done_ += *count;
    crc_ = updated_crc(crc_, into.first(*count));
    if (done_ > member_.size || (*count == 0 && done_ < member_.size)) {
      return damaged("zip: member does not have the size that it claims");
    }
    if (*count == 0 && crc_ != member_.checksum) {
      return damaged("zip: member is damaged: its checksum is another");
    }
    return count;
  }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> /*into*/) override {
    return Error{ErrorCode::kUnsupported, offset, "zip: member cannot be read at an offset"};
  }
  [[nodiscard]] bool seekable() const override { return false; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return std::nullopt; }

 private:
  [[nodiscard]] Error damaged(std::string_view what) const {
    return {ErrorCode::kCorrupt, member_.header_at, what};
  }

  // The next bytes as they are in the archive; none at their end.
  Result<std::size_t> copy(std::span<std::byte> into) {
    const auto wanted = static_cast<std::size_t>(
        std::min<std::uint64_t>(into.size(), member_.compressed_size - taken_));
    const Result<std::size_t> count = archive_.read_at(at_ + taken_, into.first(wanted));
    if (count && *count != wanted) {
      return damaged("zip: the archive ends inside a member");
    }
    taken_ += wanted;
    return count;
  }

  Result<std::size_t> inflate(std::span<std::byte> into) {
    while (true) {
      if (input_.empty()) {
        buffer_.resize(kInputStep);
        const Result<std::size_t> count = copy(buffer_);
        if (!count) {
          return count.error();
        }
        input_ = std::span(buffer_).first(*count);
      }
      const bool last = input_.empty();
      const Result<std::size_t> count = decoder_->decode(input_, into);
      if (!count) {
        return count.error().code == ErrorCode::kResource ? count.error()
                                                          : damaged("zip: member is damaged");
      }
      if (*count != 0) {
        return count;
      }
      if (decoder_->ended()) {
        const bool whole = input_.empty() && taken_ == member_.compressed_size;
        return whole ? Result<std::size_t>(std::size_t{0})
                     : damaged("zip: member is damaged: there is more after its end");
      }
      if (last) {
        return damaged("zip: member is damaged: its end is missing");
      }
    }
  }

  io::ByteSource& archive_;
  ZipEntry member_;
  std::uint64_t at_;         // of the content in the archive
  std::uint64_t taken_ = 0;  // bytes of it
  std::uint64_t done_ = 0;   // bytes that came out
  std::uint32_t crc_ = 0;
  std::optional<DeflateDecoder> decoder_;  // none: the member is stored
  std::vector<std::byte> buffer_;
  std::span<const std::byte> input_;  // what is left of it
};

// The content of a member as a stream, which is checked against the size and the checksum that the
// archive claims when the last byte has been read. `archive` must outlive it.
// Errors: kUnsupported for encryption or a method that is not read here; those of
//         find_zip_content(). Of read(): kCorrupt; those of `archive`.
Result<std::unique_ptr<io::ByteSource>> open_zip_member(io::ByteSource& archive,
                                                        const ZipEntry& member) {
  if (const std::string_view obstacle = obstacle_of(member); !obstacle.empty()) {
    return Error{ErrorCode::kUnsupported, member.header_at, obstacle};
  }
  const Result<std::uint64_t> content_at = find_zip_content(archive, member);
  if (!content_at) {
    return content_at.error();
  }
  return std::unique_ptr<io::ByteSource>(
      std::make_unique<MemberSource>(archive, member, *content_at));
}

}  // namespace

ZipArchive::ZipArchive(io::ByteSource& source, std::shared_ptr<const Members> members)
    : source_(source), members_(std::move(members)) {}

bool ZipArchive::looks_like_zip(std::span<const std::byte> head) {
  return bytes::ByteCursor(head, 0).read<std::uint32_t>() == kZipLocalHeader;
}

Result<std::unique_ptr<ZipArchive>> ZipArchive::open(io::ByteSource& source) {
  if (!source.seekable()) {
    return Error{ErrorCode::kUnsupported, kNoOffset, "zip: input cannot be read at an offset"};
  }
  Result<Members> members = read_zip_directory(source);
  if (!members) {
    return members.error();
  }
  return std::make_unique<ZipArchive>(source, std::make_shared<const Members>(std::move(*members)));
}

Result<std::vector<std::byte>> ZipArchive::read_head(std::size_t member, std::size_t size) {
  const auto stream = open_zip_member(source_, members()[member]);
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
  const ZipEntry& claims = members()[member];
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
  const auto stream = open_zip_member(source_, members()[member]);
  if (!stream) {
    return stream.error();
  }
  // A byte more than it claims: size and checksum are looked at after the last byte.
  std::vector<std::byte> content(static_cast<std::size_t>(members()[member].size) + 1);
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
  const auto stream = open_zip_member(source_, members()[member]);
  if (!stream) {
    return stream.error();
  }
  return io::spool_to_temporary(**stream, directory, members()[member].size);
}

}  // namespace stackpack::codec
