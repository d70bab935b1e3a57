#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "codec/zstd_codec.h"
#include "spk/read/sample_block_decoder.h"
#include "spk/write/sample_block_encoder.h"
#include "support/spk_reading.h"

namespace stackpack::spk {
namespace {

using Samples = std::vector<StoredSample>;

constexpr std::uint64_t kStacks = 1'000;
constexpr std::uint64_t kEvents = 3;

struct Block {
  std::vector<std::byte> head;
  std::vector<std::byte> body;
};

Block encode(const Samples& samples) {
  SampleBlockEncoder encoder;
  BlockContent head;
  BlockContent body;
  encoder.encode(samples, head, body);
  const auto head_bytes = head.bytes().bytes();
  const auto body_bytes = body.bytes().bytes();
  return {{head_bytes.begin(), head_bytes.end()}, {body_bytes.begin(), body_bytes.end()}};
}

Result<Samples> decode(const Block& block, std::size_t count) {
  SampleHead head;
  if (const Status read = decode_sample_head(bytes::ByteCursor(block.head, 0),
                                             static_cast<std::uint32_t>(count), head);
      !read) {
    return read.error();
  }
  SampleBlockDecoder decoder;
  Samples samples;
  if (const Status read = decoder.decode(bytes::ByteCursor(block.body, 0), head, {kStacks, kEvents},
                                         spk::SampleBlockDecoder::Order::kCapture, samples);
      !read) {
    return read.error();
  }
  return samples;
}

Samples plain(std::size_t count) {
  test::Random random(count);
  return test::random_samples(random, kEvents, kStacks, count);
}

template <typename Change>
Samples changed(std::size_t count, Change change) {
  Samples samples = plain(count);
  test::Random random(99);
  for (StoredSample& sample : samples) {
    change(sample, random);
  }
  return samples;
}

TEST_SUITE("spk samples") {
  TEST_CASE("sample block: whatever the samples are, they come back") {
    struct Case {
      std::string name;
      Samples samples;
    };
    const std::vector<Case> cases{
        {"one sample", plain(1)},
        {"a few", plain(10)},
        {"a full block", plain(kSamplesPerBlock)},
        {"nothing known", Samples(100)},
        {"times in any order",
         changed(500, [](auto& s, auto& r) { s.time_ns = r.next() >> r.below(64); })},
        {"all times equal", changed(500, [](auto& s, auto&) { s.time_ns = 77; })},
        {"times at both ends",
         changed(500, [](auto& s, auto& r) { s.time_ns = 0 - (r.next() & 1); })},
        {"times in steps of 100 ns",
         changed(500, [](auto& s, auto&) { s.time_ns = s.time_ns / 100 * 100; })},
        {"order of equal times not by cpu",
         changed(500, [](auto& s, auto&) { s.time_ns = s.time_ns / 50'000; })},
        {"a thread each", changed(5'000, [n = 0U](auto& s, auto&) mutable { s.tid = ++n; })},
        {"a cpu each", changed(5'000, [n = 0U](auto& s, auto&) mutable { s.cpu = n++; })},
        {"ids at the ends of their range",
         changed(500,
                 [](auto& s, auto& r) {
                   s.pid = 0 - static_cast<std::uint32_t>(r.below(2));
                   s.tid = 0 - static_cast<std::uint32_t>(r.below(2));
                   s.cpu = 0 - static_cast<std::uint32_t>(r.below(2));
                 })},
        {"huge weights", changed(500, [](auto& s, auto& r) { s.weight = 0 - r.below(3); })},
        {"all flags", changed(500,
                              [](auto& s, auto& r) {
                                s.flags = static_cast<std::uint8_t>(
                                    r.below(256) & ~std::uint64_t{spk::kUnwoundFlag});
                              })},
        {"unwound callstacks among others", changed(500,
                                                    [](auto& s, auto& r) {
                                                      if (has_chain(s.origin) && r.below(2) == 0) {
                                                        s.origin = StackOrigin::kUnwound;
                                                      }
                                                    })},
        {"stacks that repeat in cycles", changed(5'000,
                                                 [n = 0U](auto& s, auto&) mutable {
                                                   ++n;
                                                   s.stack = n % 40 * (n % 3);
                                                 })},
        {"no stacks", changed(500, [](auto& s, auto&) { s.stack = kNoStack; })},
    };
    for (const Case& test : cases) {
      CAPTURE(test.name);
      const Result<Samples> decoded = decode(encode(test.samples), test.samples.size());
      REQUIRE(decoded.has_value());
      CHECK(decoded.value() == test.samples);
    }
  }

  TEST_CASE("sample block: what is constant or foreseeable costs nothing") {
    Samples samples(60'000);
    std::uint64_t time = 5'000;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      samples[i] = {{time += 100, 4, 5, 2, 0, 250'000, StackOrigin::kRecorded, 0}, 17};
    }
    std::vector<std::byte> frame;
    REQUIRE(codec::ZstdCompressor(9).compress(encode(samples).body, frame));
    CHECK(frame.size() < 150);
  }

  TEST_CASE("sample block: every prefix of head and body is refused") {
    const Samples samples = plain(40);
    const Block good = encode(samples);
    for (std::size_t size = 0; size < good.head.size(); ++size) {
      CHECK_FALSE(
          decode({{good.head.begin(), good.head.begin() + static_cast<long>(size)}, good.body},
                 samples.size())
              .has_value());
    }
    for (std::size_t size = 0; size < good.body.size(); ++size) {
      CHECK_FALSE(
          decode({good.head, {good.body.begin(), good.body.begin() + static_cast<long>(size)}},
                 samples.size())
              .has_value());
    }
  }

  TEST_CASE("sample block: a damaged byte gives an error or samples within bounds") {
    const Samples samples = plain(60);
    const Block good = encode(samples);
    for (std::size_t at = 0; at < good.body.size(); ++at) {
      for (const unsigned flip : {1U, 0x80U, 0xFFU}) {
        Block bad = good;
        bad.body[at] ^= static_cast<std::byte>(flip);
        const Result<Samples> decoded = decode(bad, samples.size());
        if (!decoded) {
          CHECK(decoded.error().code == ErrorCode::kCorrupt);
          continue;
        }
        CHECK(decoded->size() == samples.size());
        for (const StoredSample& sample : decoded.value()) {
          CHECK((sample.stack < kStacks || sample.stack == kNoStack));
          CHECK(sample.event < kEvents);
        }
      }
    }
  }

  TEST_CASE("sample block: ids above the tables are refused") {
    Samples samples = plain(10);
    samples[3].stack = kStacks;
    CHECK_FALSE(decode(encode(samples), samples.size()).has_value());
    samples[3].stack = kStacks - 1;
    CHECK(decode(encode(samples), samples.size()).has_value());
    samples[3].event = kEvents;
    CHECK_FALSE(decode(encode(samples), samples.size()).has_value());
  }
}

}  // namespace
}  // namespace stackpack::spk
