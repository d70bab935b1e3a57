#include "app/convert/content_digest.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "bytes/byte_writer.h"
#include "bytes/hash.h"

namespace stackpack::app {

namespace {

// The hash so far goes in front of the next part: order and lengths count.
std::uint64_t chain(std::uint64_t hash, std::span<const std::byte> part) {
  bytes::ByteWriter bytes;
  bytes.write(hash);
  bytes.write_bytes(part);
  return bytes::xxh3_64(bytes.bytes());
}

std::string digest_text(std::uint64_t size, std::uint64_t hash, std::span<const std::byte> last) {
  return std::to_string(size) + '-' + std::to_string(chain(hash, last));
}

class DigestedStream final : public io::ByteSource {
 public:
  DigestedStream(std::unique_ptr<io::ByteSource> stream, ContentDigest& digest)
      : stream_(std::move(stream)), digest_(digest) {}

  Result<std::size_t> read(std::span<std::byte> into) override {
    Result<std::size_t> count = stream_->read(into);
    if (count) {
      digest_.add(into.first(*count));
    }
    return count;
  }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> /*into*/) override {
    return Error{ErrorCode::kUnsupported, offset, "input cannot be read at an offset"};
  }
  [[nodiscard]] bool seekable() const override { return false; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return stream_->size(); }

 private:
  std::unique_ptr<io::ByteSource> stream_;
  ContentDigest& digest_;
};

}  // namespace

void ContentDigest::add_part() {
  hash_ = chain(hash_, part_);
}

void ContentDigest::add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::uint64_t in_stride = size_ % kStride;
    if (in_stride < kPart) {
      const std::size_t count = std::min(bytes.size(), static_cast<std::size_t>(kPart - in_stride));
      std::copy_n(bytes.begin(), count, part_.begin() + static_cast<std::ptrdiff_t>(in_stride));
      std::copy_n(bytes.begin(), count, last_.begin() + static_cast<std::ptrdiff_t>(size_ % kPart));
      size_ += count;
      bytes = bytes.subspan(count);
      if (in_stride + count == kPart) {
        add_part();
      }
      continue;
    }
    // Between the parts only the end of the stream matters: step by ring-sized pieces.
    const std::size_t at = static_cast<std::size_t>(size_ % kPart);
    const std::size_t count = std::min(bytes.size(), static_cast<std::size_t>(kPart) - at);
    std::copy_n(bytes.begin(), count, last_.begin() + static_cast<std::ptrdiff_t>(at));
    size_ += count;
    bytes = bytes.subspan(count);
  }
}

std::string ContentDigest::finish() const {
  // The ring from its oldest byte on; a short stream has not filled it.
  const std::size_t held = static_cast<std::size_t>(std::min(size_, kPart));
  const std::size_t begin = size_ < kPart ? 0 : static_cast<std::size_t>(size_ % kPart);
  std::vector<std::byte> last(held);
  for (std::size_t i = 0; i < held; ++i) {
    last[i] = last_[(begin + i) % kPart];
  }
  return digest_text(size_, hash_, last);
}

Result<std::string> ContentDigest::of(io::ByteSource& source) {
  const std::uint64_t size = source.size().value_or(0);
  std::uint64_t hash = 0;
  std::vector<std::byte> part(kPart);
  // Parts that the end of the file cuts are covered by the last bytes.
  for (std::uint64_t at = 0; size >= kPart && at <= size - kPart; at += kStride) {
    if (const Status read = io::read_exactly_at(source, at, part, "input became shorter"); !read) {
      return read.error();
    }
    hash = chain(hash, part);
  }
  part.resize(static_cast<std::size_t>(std::min(size, kPart)));
  const Status read = io::read_exactly_at(source, size - part.size(), part, "input became shorter");
  if (!read) {
    return read.error();
  }
  return digest_text(size, hash, part);
}

std::unique_ptr<io::ByteSource> digested_stream(std::unique_ptr<io::ByteSource> stream,
                                                ContentDigest& digest) {
  return std::make_unique<DigestedStream>(std::move(stream), digest);
}

}  // namespace stackpack::app
