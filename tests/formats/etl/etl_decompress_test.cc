#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "formats/etl/codec/lznt1.h"
#include "formats/etl/codec/xpress_huffman.h"
#include "formats/etl/codec/xpress_plain.h"
#include "support/lz_compressors.h"
#include "support/naive_decoders.h"
#include "support/test_bytes.h"

namespace stackpack::etl {
namespace {

using Bytes = std::vector<std::byte>;

struct Codec {
  std::string_view name;
  Bytes (*compress)(std::span<const std::byte>);
  DecodeOutcome (*decode)(std::span<const std::byte>, std::span<std::byte>, std::size_t);
  test::NaiveOutcome (*naive)(std::span<const std::byte>, std::size_t);
};

constexpr Codec kCodecs[] = {
    {"xpress", test::compress_xpress_plain, decode_xpress_plain, test::naive_xpress_plain},
    {"xpress huffman", test::compress_xpress_huffman, decode_xpress_huffman,
     test::naive_xpress_huffman},
    {"lznt1", test::compress_lznt1, decode_lznt1, test::naive_lznt1},
};

struct Decoded {
  Bytes content;
  DecodeEnd end = DecodeEnd::kComplete;
};

// The output stands exactly after the input of the allocator's last byte, so that the address
// sanitizer sees a write beyond the slack.
Decoded decode(const Codec& codec, std::span<const std::byte> in, std::size_t wanted) {
  const Bytes exact(in.begin(), in.end());
  Bytes out(wanted + kDecodeSlack);
  const DecodeOutcome outcome = codec.decode(exact, out, wanted);
  REQUIRE(outcome.produced <= wanted);
  out.resize(outcome.produced);
  return {out, outcome.end};
}

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Bytes from_hex(std::string_view hex) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoul(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

// Content with repeats of many lengths and distances, and stretches without any.
Bytes random_content(std::mt19937& random, std::size_t size) {
  Bytes content;
  const unsigned style = random() % 4;
  while (content.size() < size) {
    if (content.empty() || random() % 3 == 0) {
      const std::size_t run = 1 + random() % 40;
      for (std::size_t i = 0; i < run; ++i) {
        content.push_back(static_cast<std::byte>(style == 0 ? random() % 4 : random()));
      }
    } else {
      const std::size_t reach = style == 1 ? 8 : 20000;
      const std::size_t distance = 1 + random() % std::min(content.size(), reach);
      const std::size_t length = 3 + random() % (random() % 20 == 0 ? 3000 : 30);
      for (std::size_t i = 0; i < length; ++i) {
        content.push_back(content[content.size() - distance]);
      }
    }
  }
  content.resize(size);
  return content;
}

TEST_SUITE_BEGIN("etl decompression");

TEST_CASE("published examples decode") {
  std::string abc;
  for (int i = 0; i < 100; ++i) {
    abc += "abc";
  }
  const std::string tune =
      "F# F# G A A G F# E D D E F# F# E E F# F# G A A G F# E D D E F# E D D E E F# D E F# G F# D E "
      "F# G F# E D E A F# F# G A A G F# E D D E F# E D D";
  struct Case {
    std::string_view name;
    const Codec& codec;
    std::string_view hex;
    Bytes content;
  };
  const Case cases[] = {
      {"xpress, literals only", kCodecs[0],
       "3f0000006162636465666768696a6b6c6d6e6f707172737475767778797a",
       bytes_of("abcdefghijklmnopqrstuvwxyz")},
      {"xpress, one long match", kCodecs[0], "ffffff1f61626317000fff2601", bytes_of(abc)},
      {"lznt1, the example of the specification",
       kCodecs[2],
       "38b0884623200020"
       "4720410010a24701"
       "a045204400084501"
       "507900c045200524"
       "138805b4024a44ef"
       "0358028c09160148"
       "4500be009e000401"
       "189000",
       {}},
  };
  for (const Case& example : cases) {
    CAPTURE(example.name);
    Bytes content = example.content;
    if (content.empty()) {
      content = bytes_of(tune);
      content.push_back(std::byte{0});
    }
    const Decoded decoded = decode(example.codec, from_hex(example.hex), content.size());
    CHECK(decoded.end == DecodeEnd::kComplete);
    CHECK(decoded.content == content);
  }
}

TEST_CASE("what was compressed comes back, at all sizes") {
  constexpr unsigned kSeed = 20200101;
  CAPTURE(kSeed);
  std::mt19937 random(kSeed);
  const std::size_t sizes[] = {1,    2,    3,    31,    32,    33,    64,     4095,  4096,
                               4097, 9000, 8191, 65535, 65536, 65537, 131072, 200001};
  for (const Codec& codec : kCodecs) {
    for (const std::size_t size : sizes) {
      CAPTURE(codec.name);
      CAPTURE(size);
      const Bytes content = random_content(random, size);
      const Bytes packed = codec.compress(content);
      const Decoded decoded = decode(codec, packed, size);
      CHECK(decoded.end == DecodeEnd::kComplete);
      CHECK(decoded.content == content);
      const test::NaiveOutcome naive = codec.naive(packed, size);
      CHECK(naive.end == DecodeEnd::kComplete);
      CHECK(naive.content == content);
    }
  }
}

TEST_CASE("lengths of every coded form come back") {
  for (const Codec& codec : kCodecs) {
    CAPTURE(codec.name);
    for (const std::size_t run : {3U, 9U, 10U, 24U, 25U, 279U, 280U, 281U, 4000U, 65538U, 70000U}) {
      CAPTURE(run);
      Bytes content = bytes_of("seed");
      content.insert(content.end(), run, std::byte{7});
      content.insert(content.end(), run, std::byte{9});
      const Decoded decoded = decode(codec, codec.compress(content), content.size());
      CHECK(decoded.end == DecodeEnd::kComplete);
      CHECK(decoded.content == content);
    }
  }
}

TEST_CASE("a length may stand in a longer form than it needs, but not below what leads there") {
  // One literal, then a match whose length says 7, 15 and 255 before it stands in two bytes.
  struct Case {
    std::string_view hex;
    DecodeEnd end;
    std::size_t size;
  };
  for (const Case& c : {Case{"ffffff7f6107000fff1600", DecodeEnd::kComplete, 26},
                        Case{"ffffff7f6107000fff1500", DecodeEnd::kCorrupt, 1}}) {
    CAPTURE(c.hex);
    for (const std::size_t more : {0U, 200U}) {  // bytes after it
      CAPTURE(more);
      Bytes in = from_hex(c.hex);
      in.resize(in.size() + more, std::byte{'a'});
      const Decoded decoded = decode(kCodecs[0], in, 26);
      CHECK(decoded.end == c.end);
      CHECK(decoded.content == Bytes(c.size, std::byte{'a'}));
    }
  }
}

TEST_CASE("fast and naive decoders agree on damaged streams") {
  constexpr unsigned kSeed = 77;
  CAPTURE(kSeed);
  std::mt19937 random(kSeed);
  for (const Codec& codec : kCodecs) {
    CAPTURE(codec.name);
    std::size_t ends[3] = {};
    for (int round = 0; round < 400; ++round) {
      CAPTURE(round);
      const std::size_t size = 1 + random() % 700;
      const Bytes content = random_content(random, size);
      Bytes packed = codec.compress(content);
      const unsigned flips = random() % 4;
      for (unsigned i = 0; i < flips; ++i) {
        packed[random() % packed.size()] ^= static_cast<std::byte>(1U << (random() % 8));
      }
      if (random() % 3 == 0) {
        packed.resize(random() % (packed.size() + 1));
      }
      const std::size_t wanted = random() % 2 == 0 ? size : random() % (2 * size + 1);
      const Decoded fast = decode(codec, packed, wanted);
      const test::NaiveOutcome naive = codec.naive(packed, wanted);
      CHECK(fast.end == naive.end);
      CHECK(fast.content == naive.content);
      ++ends[static_cast<std::size_t>(naive.end)];
    }
    CHECK(ends[0] > 20);
    CHECK(ends[1] > 20);
    CHECK(ends[2] > 20);
  }
}

TEST_CASE("every prefix of a stream gives a prefix of the content") {
  std::mt19937 random(5);
  const Bytes content = random_content(random, 1500);
  for (const Codec& codec : kCodecs) {
    CAPTURE(codec.name);
    const Bytes packed = codec.compress(content);
    for (std::size_t cut = 0; cut < packed.size(); ++cut) {
      CAPTURE(cut);
      const Decoded decoded = decode(codec, std::span(packed).first(cut), content.size());
      if (decoded.end == DecodeEnd::kComplete) {
        CHECK(decoded.content == content);  // nothing but the closing bits is missing
        continue;
      }
      CHECK(decoded.end == DecodeEnd::kShort);
      CHECK(std::equal(decoded.content.begin(), decoded.content.end(), content.begin()));
    }
  }
}

TEST_CASE("the code lengths of Xpress Huffman tell it from the others") {
  std::mt19937 random(6);
  for (int round = 0; round < 50; ++round) {
    const Bytes content = random_content(random, 3000);
    CHECK(starts_like_xpress_huffman(test::compress_xpress_huffman(content)));
    CHECK_FALSE(starts_like_xpress_huffman(test::compress_xpress_plain(content)));
    CHECK_FALSE(starts_like_xpress_huffman(test::compress_lznt1(content)));
  }
}

TEST_CASE("an output without slack is refused") {
  Bytes out(100);
  for (const Codec& codec : kCodecs) {
    CHECK(codec.decode({}, out, 100 - kDecodeSlack + 1).end == DecodeEnd::kCorrupt);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::etl
