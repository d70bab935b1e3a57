#include "app/convert/hashed_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "bytes/byte_text.h"
#include "bytes/byte_writer.h"
#include "bytes/hash.h"

namespace stackpack::app {

namespace {

// Of reads that only fill gaps, and the gap that is worth one.
constexpr std::size_t kBlock = std::size_t{256} << 10;

// Further ahead than that nothing is followed: it is a look at the end of the file.
constexpr std::uint64_t kReach = std::uint64_t{8} << 20;

// Fewer bytes are a look at a header, by a reader that comes back for the rest.
constexpr std::size_t kLeastFollowed = 4096;

bool is_damage(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kTruncated;
}

std::string digest_text(std::uint64_t size, const bytes::HashStream& parts,
                        std::span<const std::byte> last) {
  bytes::ByteWriter all;
  all.write_bytes(parts.digest());
  all.write_bytes(last);
  std::string text = std::to_string(size) + '-';
  for (const std::byte byte : bytes::xxh3_128(all.bytes())) {
    bytes::append_hex(text, std::to_integer<std::uint64_t>(byte), 2);
  }
  return text;
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

HashedSource::HashedSource(std::unique_ptr<io::ByteSource> source) : source_(std::move(source)) {}

Result<std::size_t> HashedSource::read(std::span<std::byte> into) {
  const Result<std::size_t> count =
      seekable() ? source_->read_at(position_, into) : source_->read(into);
  if (count) {
    pass(position_, into.first(*count));
    position_ += *count;
  }
  return count;
}

Result<std::size_t> HashedSource::read_at(std::uint64_t offset, std::span<std::byte> into) {
  const Result<std::size_t> count = source_->read_at(offset, into);
  if (count) {
    pass(offset, into.first(*count));
  }
  return count;
}

void HashedSource::pass(std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::scoped_lock lock(mutex_);
  if (offset > hashed_ && offset - hashed_ >= kBlock && offset - hashed_ <= kReach &&
      bytes.size() >= kLeastFollowed) {
    // An error is for finish() to meet again.
    static_cast<void>(hash_up_to(offset));
  }
  const std::uint64_t end = std::min(offset + bytes.size(), size().value_or(UINT64_MAX));
  if (offset <= hashed_ && hashed_ < end) {
    hash_.update(bytes.subspan(static_cast<std::size_t>(hashed_ - offset),
                               static_cast<std::size_t>(end - hashed_)));
    hashed_ = end;
  }
}

// False: the file ends before.
Result<bool> HashedSource::hash_up_to(std::uint64_t end) {
  block_.resize(kBlock);
  while (hashed_ < end) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, end - hashed_));
    const Result<std::size_t> count = source_->read_at(hashed_, std::span(block_).first(wanted));
    if (!count) {
      return count.error();
    }
    hash_.update(std::span(block_).first(*count));
    hashed_ += *count;
    if (*count < wanted) {
      return false;
    }
  }
  return true;
}

Status HashedSource::hash_rest_of_stream() {
  block_.resize(kBlock);
  while (true) {
    const Result<std::size_t> count = source_->read(block_);
    if (!count || *count == 0) {
      return count ? Status{} : Status(count.error());
    }
    hash_.update(std::span(block_).first(*count));
  }
}

Result<std::optional<std::array<std::byte, 16>>> HashedSource::finish() {
  const std::scoped_lock lock(mutex_);
  if (!seekable()) {
    const Status rest = hash_rest_of_stream();
    if (!rest) {
      return is_damage(rest.error()) ? Result(std::optional<std::array<std::byte, 16>>())
                                     : rest.error();
    }
    return std::optional(hash_.digest());
  }
  const Result<bool> whole = hash_up_to(size().value_or(0));
  if (!whole) {
    return whole.error();
  }
  return *whole ? std::optional(hash_.digest()) : std::nullopt;
}

// Of a ring: two pieces.
void ContentDigest::keep_last(std::span<const std::byte> bytes) {
  const auto kept = bytes.last(std::min<std::size_t>(bytes.size(), kPart));
  const auto at = static_cast<std::size_t>((size_ + bytes.size() - kept.size()) % kPart);
  const std::size_t count = std::min<std::size_t>(kept.size(), kPart - at);
  std::copy_n(kept.begin(), count, last_.begin() + static_cast<std::ptrdiff_t>(at));
  std::copy(kept.begin() + static_cast<std::ptrdiff_t>(count), kept.end(), last_.begin());
}

void ContentDigest::add(std::span<const std::byte> bytes) {
  keep_last(bytes);
  while (!bytes.empty()) {
    const std::uint64_t place = size_ % kStride;
    const std::uint64_t step = (place < kPart ? kPart : kStride) - place;
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(step, bytes.size()));
    if (place < kPart) {
      hash_.update(bytes.first(count));
    }
    size_ += count;
    bytes = bytes.subspan(count);
  }
}

std::string ContentDigest::finish() const {
  // The ring from its oldest byte on; a short stream has not filled it.
  const auto held = static_cast<std::size_t>(std::min(size_, kPart));
  std::vector<std::byte> last(held);
  for (std::size_t i = 0; i < held; ++i) {
    last[i] = last_[static_cast<std::size_t>((size_ - held + i) % kPart)];
  }
  return digest_text(size_, hash_, last);
}

Result<std::string> ContentDigest::of(io::ByteSource& source) {
  const std::uint64_t size = source.size().value_or(0);
  bytes::HashStream hash;
  std::vector<std::byte> part;
  const auto read = [&](std::uint64_t at, std::uint64_t count) {
    part.resize(static_cast<std::size_t>(std::min(count, size - at)));
    return io::read_exactly_at(source, at, part, "input became shorter");
  };
  for (std::uint64_t at = 0; at < size; at += kStride) {
    if (const Status got = read(at, kPart); !got) {
      return got.error();
    }
    hash.update(part);
  }
  const std::uint64_t last = std::min(size, kPart);
  if (const Status got = read(size - last, last); !got) {
    return got.error();
  }
  return digest_text(size, hash, part);
}

std::unique_ptr<io::ByteSource> digested_stream(std::unique_ptr<io::ByteSource> stream,
                                                ContentDigest& digest) {
  return std::make_unique<DigestedStream>(std::move(stream), digest);
}

}  // namespace stackpack::app
