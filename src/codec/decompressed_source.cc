#include "codec/decompressed_source.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "codec/gzip_codec.h"
#include "codec/zstd_codec.h"

namespace stackpack::codec {

namespace {

constexpr std::size_t kPackedBytes = std::size_t{1} << 17;
constexpr std::size_t kUnpackedBytes = std::size_t{1} << 19;

constexpr std::array kZstdMagic = {std::byte{0x28}, std::byte{0xB5}, std::byte{0x2F},
                                   std::byte{0xFD}};
constexpr std::array kXzMagic = {std::byte{0xFD}, std::byte{'7'}, std::byte{'z'},
                                 std::byte{'X'},  std::byte{'Z'}, std::byte{0}};

bool begins_with(std::span<const std::byte> bytes, std::span<const std::byte> magic) {
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

// Either decoder, with one face.
class Decoder {
 public:
  explicit Decoder(FileCompression compression) {
    if (compression == FileCompression::kZstd) {
      codec_.emplace<ZstdStream>();
    }
  }

  Result<std::size_t> decode(std::span<const std::byte>& input, std::size_t room,
                             std::vector<std::byte>& output) {
    return std::visit([&](auto& codec) { return codec.decode(input, room, output); }, codec_);
  }

  [[nodiscard]] bool at_end() const {
    if (const auto* const gzip = std::get_if<GzipDecompressor>(&codec_)) {
      return gzip->at_member_end();
    }
    return std::get<ZstdStream>(codec_).at_frame_end();
  }

 private:
  std::variant<GzipDecompressor, ZstdStream> codec_;
};

class DecompressedSource final : public io::ByteSource {
 public:
  DecompressedSource(std::unique_ptr<io::ByteSource> packed, FileCompression compression,
                     StreamDamage& damage)
      : packed_(std::move(packed)),
        is_gzip_(compression == FileCompression::kGzip),
        decoder_(compression),
        damage_(damage) {}

  Result<std::size_t> read(std::span<std::byte> into) override {
    if (given_ == unpacked_.size() && !into.empty()) {
      if (const Status unpacked = unpack(); !unpacked) {
        return unpacked.error();
      }
    }
    const std::size_t count = std::min(into.size(), unpacked_.size() - given_);
    std::copy_n(unpacked_.begin() + static_cast<std::ptrdiff_t>(given_), count, into.begin());
    given_ += count;
    return count;
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> /*into*/) override {
    return Error{ErrorCode::kUnsupported, offset, "input cannot be read at an offset"};
  }
  [[nodiscard]] bool seekable() const override { return false; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return std::nullopt; }

 private:
  // Replaces unpacked_ by the next bytes: none at the end.
  Status unpack() {
    unpacked_.clear();
    given_ = 0;
    while (unpacked_.empty() && !ended_) {
      if (const Status filled = input_.empty() ? fill() : Status(); !filled) {
        return filled;
      }
      const std::size_t before = input_.size();
      const Result<std::size_t> decoded = decoder_.decode(input_, kUnpackedBytes, unpacked_);
      if (!decoded && decoded.error().code == ErrorCode::kResource) {
        return decoded.error();
      }
      const bool stuck = unpacked_.empty() && input_.size() == before;
      if (!decoded) {
        damage_.error = decoded.error();
        damage_.error->offset = consumed_ - input_.size();
      } else if (stuck && !decoder_.at_end()) {
        damage_.error = Error{ErrorCode::kTruncated, consumed_,
                              is_gzip_ ? "gzip: the file ends inside the stream"
                                       : "zstd: the file ends inside the stream"};
      }
      ended_ = damage_.error || stuck;
    }
    if (ended_) {
      if (const Status drained = drain(); !drained) {
        return drained;
      }
    }
    produced_ += unpacked_.size();
    if (grows_too_much(produced_, consumed_)) {
      return Error{ErrorCode::kLimit, kNoOffset,
                   "grows to more than 256 times its size; unpack it first if that is right"};
    }
    return {};
  }

  Status fill() {
    buffer_.resize(kPackedBytes);
    const Result<std::size_t> count = packed_->read(buffer_);
    if (!count) {
      return count.error();
    }
    consumed_ += *count;
    input_ = std::span<const std::byte>(buffer_).first(*count);
    return {};
  }

  // Reads what is left, for those who look at the compressed bytes as they pass by.
  Status drain() {
    do {
      if (const Status filled = fill(); !filled) {
        return filled;
      }
    } while (!input_.empty());
    return {};
  }

  std::unique_ptr<io::ByteSource> packed_;
  bool is_gzip_;
  Decoder decoder_;
  StreamDamage& damage_;
  std::vector<std::byte> buffer_;
  std::span<const std::byte> input_;  // what is left of buffer_
  std::vector<std::byte> unpacked_;
  std::size_t given_ = 0;  // of unpacked_
  std::uint64_t consumed_ = 0;
  std::uint64_t produced_ = 0;
  bool ended_ = false;
};

}  // namespace

FileCompression compression_of(std::span<const std::byte> head) {
  if (looks_like_gzip(head)) {
    return FileCompression::kGzip;
  }
  if (begins_with(head, kZstdMagic)) {
    return FileCompression::kZstd;
  }
  return begins_with(head, kXzMagic) ? FileCompression::kXz : FileCompression::kNone;
}

std::unique_ptr<io::ByteSource> decompressed_source(std::unique_ptr<io::ByteSource> packed,
                                                    FileCompression compression,
                                                    StreamDamage& damage) {
  return std::make_unique<DecompressedSource>(std::move(packed), compression, damage);
}

Result<std::vector<std::byte>> decompressed_head(std::span<const std::byte> head,
                                                 FileCompression compression, std::size_t size) {
  std::vector<std::byte> content;
  Decoder decoder(compression);
  while (content.size() < size) {
    const Result<std::size_t> count = decoder.decode(head, size - content.size(), content);
    if (!count && count.error().code == ErrorCode::kResource) {
      return count.error();
    }
    if (!count || *count == 0) {
      break;
    }
  }
  return content;
}

}  // namespace stackpack::codec
