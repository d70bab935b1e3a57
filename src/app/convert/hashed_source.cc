#include "app/convert/hashed_source.h"

#include <algorithm>
#include <utility>

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

}  // namespace stackpack::app
