#include "app/convert/hashed_source.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "bytes/hash.h"

namespace stackpack::app {

TEST_SUITE_BEGIN("app.hashed_source");

namespace {

using Hash = std::array<std::byte, 16>;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMebibyte = kKiB * kKiB;

std::vector<std::byte> random_bytes(std::size_t size) {
  std::mt19937_64 random(size);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random());
  }
  return bytes;
}

// Bytes that are read from memory, counted; they end at `end` by now, and did at `size` when the
// source was opened. A stream has no size.
class CountedSource final : public io::ByteSource {
 public:
  struct Counts {
    std::uint64_t bytes = 0;
    std::size_t end = 0;
    std::size_t size = 0;
    Error error{};
    bool fails = false;
  };
  CountedSource(std::span<const std::byte> bytes, bool seekable, Counts& counts)
      : bytes_(bytes), seekable_(seekable), counts_(counts) {
    counts_.end = counts_.size = bytes.size();
  }
  Result<std::size_t> read(std::span<std::byte> into) override {
    const Result<std::size_t> count = read_at(position_, into);
    position_ += count ? *count : 0;
    return count;
  }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    if (counts_.fails) {
      return counts_.error;
    }
    const auto from = std::min(static_cast<std::size_t>(offset), counts_.end);
    const std::size_t count = std::min(into.size(), counts_.end - from);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(from), count, into.begin());
    counts_.bytes += count;
    return count;
  }
  [[nodiscard]] bool seekable() const override { return seekable_; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override {
    return seekable_ ? std::optional<std::uint64_t>(counts_.size) : std::nullopt;
  }

 private:
  std::span<const std::byte> bytes_;
  bool seekable_;
  Counts& counts_;
  std::size_t position_ = 0;
};

// A source over bytes, and what became of it.
struct Watched {
  explicit Watched(std::span<const std::byte> bytes, bool seekable = true)
      : source(std::make_unique<CountedSource>(bytes, seekable, counts)) {}

  void read_at(std::size_t offset, std::size_t size) {
    std::vector<std::byte> into(size);
    REQUIRE(source.read_at(offset, into));
  }
  std::optional<Hash> finish() {
    const Result<std::optional<Hash>> hash = source.finish();
    REQUIRE(hash);
    return *hash;
  }

  CountedSource::Counts counts;
  HashedSource source;
};

}  // namespace

TEST_CASE("whatever a reader reads, in any order, the hash is of all bytes") {
  const std::vector<std::byte> bytes = random_bytes(20 * kMebibyte + 77);
  const Hash expected = bytes::xxh3_128(bytes);
  std::mt19937_64 random(3);
  for (int round = 0; round < 8; ++round) {
    CAPTURE(round);
    Watched watched(bytes);
    const std::size_t longest = std::size_t{1} << (8 + 2 * round);
    for (std::size_t i = 0; i < 200; ++i) {
      // More often near the last place than anywhere.
      const std::size_t offset = random() % (i % 10 == 0 ? bytes.size() : 100 * kKiB * (i + 1));
      watched.read_at(offset, random() % longest);
    }
    CHECK(watched.finish() == expected);
    CHECK(watched.finish() == expected);
  }
  Watched untouched(bytes);
  CHECK(untouched.finish() == expected);
}

TEST_CASE("a reader that goes from the beginning to the end costs no read") {
  const std::vector<std::byte> bytes = random_bytes(3 * kMebibyte + 5);
  Watched watched(bytes);
  for (std::size_t at = 0; at < bytes.size(); at += 100 * kKiB) {
    watched.read_at(at, 100 * kKiB);
  }
  CHECK(watched.finish() == bytes::xxh3_128(bytes));
  CHECK(watched.counts.bytes == bytes.size());
}

TEST_CASE("a look at the end and one at every header cost what they saw, and no second pass") {
  const std::vector<std::byte> bytes = random_bytes(40 * kMebibyte);
  Watched watched(bytes);
  watched.read_at(bytes.size() - 100 * kKiB, 100 * kKiB);
  for (std::size_t at = 0; at < bytes.size(); at += 64 * kKiB) {
    watched.read_at(at, 72);
  }
  const std::uint64_t looks = watched.counts.bytes;
  CHECK(looks < 200 * kKiB);
  for (std::size_t at = 0; at < bytes.size(); at += 64 * kKiB) {
    watched.read_at(at, 64 * kKiB);
  }
  CHECK(watched.finish() == bytes::xxh3_128(bytes));
  CHECK(watched.counts.bytes == looks + bytes.size());
}

TEST_CASE("gaps that a reader leaves are read once, and the rest as it passes") {
  const std::vector<std::byte> bytes = random_bytes(16 * kMebibyte);
  Watched watched(bytes);
  std::uint64_t asked = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 48 * kKiB, asked += 32 * kKiB) {
    watched.read_at(at, 32 * kKiB);
  }
  CHECK(watched.finish() == bytes::xxh3_128(bytes));
  CHECK(watched.counts.bytes <= asked + bytes.size());
}

TEST_CASE("a stream is hashed to its end, however far its reader went") {
  const std::vector<std::byte> bytes = random_bytes(kMebibyte + 3);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, 700 * kKiB, 2 * kMebibyte}) {
    CAPTURE(size);
    Watched watched(bytes, false);
    std::vector<std::byte> into(size);
    REQUIRE(watched.source.read(into));
    CHECK(watched.finish() == bytes::xxh3_128(bytes));
  }
}

TEST_CASE("reading on and reading at offsets go together") {
  const std::vector<std::byte> bytes = random_bytes(kMebibyte);
  Watched watched(bytes);
  std::vector<std::byte> into(1000);
  for (int i = 0; i < 5; ++i) {
    REQUIRE(watched.source.read(into));
    CHECK(std::equal(into.begin(), into.end(), bytes.begin() + i * 1000));
    watched.read_at(500'000, 10'000);
  }
  CHECK(watched.finish() == bytes::xxh3_128(bytes));
}

TEST_CASE("a file that became shorter has no hash; one that grew has that of what it was") {
  const std::vector<std::byte> bytes = random_bytes(kMebibyte);
  Watched shorter(bytes);
  shorter.counts.end = kMebibyte - 1;
  CHECK_FALSE(shorter.finish());
  Watched grown(bytes);
  grown.counts.size = kMebibyte - 1000;
  grown.read_at(0, kMebibyte - 500);
  CHECK(grown.finish() == bytes::xxh3_128(std::span(bytes).first(kMebibyte - 1000)));
}

TEST_CASE("what cannot be read is an error, and damage of a stream no hash") {
  const std::vector<std::byte> bytes = random_bytes(kMebibyte);
  const auto finish = [&](ErrorCode code, bool seekable) {
    Watched watched(bytes, seekable);
    watched.counts.fails = true;
    watched.counts.error = Error{code, 7, "broken"};
    return watched.source.finish();
  };
  for (const bool seekable : {false, true}) {
    const Result<std::optional<Hash>> refused = finish(ErrorCode::kIo, seekable);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().offset == 7);
  }
  for (const ErrorCode damage : {ErrorCode::kCorrupt, ErrorCode::kTruncated}) {
    const Result<std::optional<Hash>> damaged = finish(damage, false);
    REQUIRE(damaged);
    CHECK_FALSE(*damaged);
  }
}

TEST_SUITE_END();

}  // namespace stackpack::app
