#include "app/convert/spool_codec.h"

#include <array>
#include <cstddef>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "support/sanitizer.h"

using stackpack::StackOrigin;
using stackpack::app::decode_spooled;
using stackpack::app::encode_spooled;
using stackpack::app::kMaxSpooledBytes;
using stackpack::app::SpooledSample;

namespace {

std::uint64_t any_width(std::mt19937_64& random, unsigned most) {
  return random() >> (64 - 1 - random() % most);
}

// Each field stays as it was half of the time, and is a number of any width otherwise.
SpooledSample next_sample(const SpooledSample& last, std::mt19937_64& random) {
  SpooledSample sample = last;
  const auto changes = [&random] { return random() % 2 == 0; };
  const auto any32 = [&random] { return static_cast<std::uint32_t>(any_width(random, 32)); };
  sample.time_ns += std::min(any_width(random, 64), ~sample.time_ns);
  sample.node = any32();
  sample.pid = changes() ? any32() : sample.pid;
  sample.tid = changes() ? any32() : sample.tid;
  sample.cpu = changes() ? any32() : sample.cpu;
  sample.event = changes() ? any32() : sample.event;
  sample.weight = changes() ? any_width(random, 64) : sample.weight;
  sample.segment = changes() ? static_cast<std::uint16_t>(any32()) : sample.segment;
  sample.origin = static_cast<StackOrigin>(random() % 3);
  sample.flags = changes() ? static_cast<std::uint8_t>(random()) : sample.flags;
  sample.pending = changes() ? any32() : SpooledSample::kNoPending;
  return sample;
}

}  // namespace

TEST_CASE("spool codec: samples of any widths come back, within the bytes that are promised" *
          doctest::test_suite(stackpack::test::kNoThreadsOfItsOwn)) {
  const std::uint32_t seed = 9;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::vector<SpooledSample> samples(50'000);
  SpooledSample last;
  std::vector<std::byte> bytes((samples.size() + 1) * kMaxSpooledBytes);
  std::size_t size = 0;
  for (SpooledSample& sample : samples) {
    if (last.time_ns > ~std::uint64_t{0} / 2) {
      last.time_ns = 0;  // the writer's and the reader's alike: another run
    }
    sample = next_sample(last, random);
    const std::size_t written = encode_spooled(sample, last, bytes.data() + size);
    REQUIRE(written <= kMaxSpooledBytes);
    size += written;
    last = sample;
  }
  SpooledSample read;
  std::size_t at = 0;
  for (const SpooledSample& sample : samples) {
    if (read.time_ns > ~std::uint64_t{0} / 2) {
      read.time_ns = 0;
    }
    SpooledSample next;
    at += decode_spooled(bytes.data() + at, read, next);
    REQUIRE(next == sample);
    read = next;
  }
  CHECK(at == size);
}

TEST_CASE("spool codec: nothing is touched beyond the bytes that are promised") {
  SpooledSample extreme;
  extreme.time_ns = ~std::uint64_t{0};
  extreme.pid = extreme.tid = 1;
  extreme.cpu = 0x10000;
  extreme.event = 7;
  extreme.weight = ~std::uint64_t{0};
  extreme.segment = 9;
  extreme.origin = StackOrigin::kRecorded;
  extreme.flags = 0xFF;
  extreme.pending = 5;
  std::array<std::byte, kMaxSpooledBytes + 8> bytes;
  bytes.fill(std::byte{0xA5});
  const std::size_t written = encode_spooled(extreme, {}, bytes.data());
  CHECK(written < kMaxSpooledBytes);
  for (std::size_t i = kMaxSpooledBytes; i < bytes.size(); ++i) {
    CHECK(bytes[i] == std::byte{0xA5});
  }
  SpooledSample read;
  CHECK(decode_spooled(bytes.data(), {}, read) == written);
  CHECK(read == extreme);
}
