#include "codec/zip_member.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <zlib.h>

#include "codec/deflate_decoder.h"
#include "codec/zip_layout.h"

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

}  // namespace

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

}  // namespace stackpack::codec
