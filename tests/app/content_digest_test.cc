#include <random>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "app/convert/hashed_source.h"

namespace stackpack::app {

TEST_SUITE_BEGIN("app.content_digest");

namespace {

std::vector<std::byte> random_bytes(std::size_t size, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random());
  }
  return bytes;
}

std::string digest_of_file(std::span<const std::byte> bytes) {
  const std::unique_ptr<io::ByteSource> source = io::source_of_memory(bytes);
  const Result<std::string> digest = ContentDigest::of(*source);
  REQUIRE(digest);
  return *digest;
}

std::string digest_of_stream(std::span<const std::byte> bytes, std::mt19937_64& random,
                             std::size_t longest) {
  ContentDigest digest;
  while (!bytes.empty()) {
    const std::size_t count = std::min<std::size_t>(bytes.size(), 1 + random() % longest);
    digest.add(bytes.first(count));
    bytes = bytes.subspan(count);
  }
  return digest.finish();
}

constexpr std::size_t kMiB = std::size_t{1} << 20;

}  // namespace

TEST_CASE("a stream and a file give one digest, however the stream is cut") {
  const unsigned seed = 1;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const std::vector<std::byte> bytes = random_bytes(3 * kMiB + 5000, seed);
  std::set<std::string> seen;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096}, std::size_t{4097},
        std::size_t{8192}, kMiB - 1, kMiB, kMiB + 1, kMiB + 4095, kMiB + 4096, kMiB + 4097,
        2 * kMiB + 17, bytes.size()}) {
    CAPTURE(size);
    const auto part = std::span(bytes).first(size);
    const std::string digest = digest_of_file(part);
    CHECK(digest_of_stream(part, random, 7) == digest);
    CHECK(digest_of_stream(part, random, 5000) == digest);
    CHECK(digest_of_stream(part, random, 2 * kMiB) == digest);
    CHECK(seen.insert(digest).second);
  }
}

TEST_CASE("changes of the parts that are read change the digest, others do not") {
  std::vector<std::byte> bytes = random_bytes(3 * kMiB + 100'000, 2);
  const std::string digest = digest_of_file(bytes);
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{4095}, std::size_t{4096}, kMiB - 1, kMiB, 2 * kMiB - 1,
        2 * kMiB, 2 * kMiB + 4095, 2 * kMiB + 4096, 3 * kMiB + 4095, 3 * kMiB + 4096,
        bytes.size() - 4097, bytes.size() - 4096, bytes.size() - 1}) {
    CAPTURE(at);
    const bool counts = at % kMiB < 4096 || at >= bytes.size() - 4096;
    bytes[at] ^= std::byte{1};
    CHECK((digest_of_file(bytes) != digest) == counts);
    bytes[at] ^= std::byte{1};
  }
  CHECK(digest_of_file(bytes) == digest);
}

TEST_SUITE_END();

}  // namespace stackpack::app
