#include "codec/plain_text.h"

#include <string>

#include <doctest/doctest.h>

#include "bytes/byte_text.h"
#include "support/test_bytes.h"

using namespace stackpack;
using codec::TextEncoding;
using test::TestBytes;

namespace {

// "a;ü 1\n𝄞 2\n" in UTF-16, whose last letter is a pair.
std::vector<std::byte> wide(bytes::ByteOrder order, bool marked) {
  TestBytes text(order);
  if (marked) {
    text.u16(0xFEFF);
  }
  for (const int unit : {0x61, 0x3B, 0xFC, 0x20, 0x31, 0x0A, 0xD834, 0xDD1E, 0x20, 0x32, 0x0A}) {
    text.u16(static_cast<std::uint16_t>(unit));
  }
  return text.bytes;
}

std::string decoded(std::span<const std::byte> text, TextEncoding encoding, std::size_t step) {
  const auto source = codec::plain_text_source(io::source_of_memory(text), encoding);
  std::string all;
  std::vector<std::byte> part(step);
  for (std::size_t count = 1; count != 0;) {
    count = source->read(part).value();
    all += bytes::text_of(std::span(part).first(count));
  }
  return all;
}

}  // namespace

TEST_CASE("plain text: UTF-16 of both orders, marks and returns become UTF-8 with line feeds") {
  struct Case {
    std::string name;
    std::vector<std::byte> bytes;
    TextEncoding encoding;
    std::string text;
  };
  const std::string kText = "a;\xC3\xBC 1\n\xF0\x9D\x84\x9E 2\n";
  const std::string kMark = "\xEF\xBB\xBF";
  for (const Case& c : std::vector<Case>{
           {"little", wide(bytes::ByteOrder::kLittle, true), TextEncoding::kUtf16Little, kText},
           {"big", wide(bytes::ByteOrder::kBig, true), TextEncoding::kUtf16Big, kText},
           {"marked", TestBytes().text(kMark + kText).bytes, TextEncoding::kMarkedUtf8, kText},
           {"returns", TestBytes().text("a 1\rb 2\rc 3").bytes, TextEncoding::kReturns,
            "a 1\nb 2\nc 3"},
           {"plain", TestBytes().text(kText).bytes, TextEncoding::kPlain, kText},
           {"both ends", TestBytes().text("a 1\r\nb 2\r\n").bytes, TextEncoding::kPlain,
            "a 1\r\nb 2\r\n"}}) {
    CAPTURE(c.name);
    CHECK(codec::text_encoding_of(c.bytes) == c.encoding);
    const std::vector<std::byte> head = codec::plain_text_head(c.bytes, c.encoding);
    CHECK(bytes::text_of(head) == c.text);
    for (const std::size_t step : {std::size_t{1}, std::size_t{3}, std::size_t{4096}}) {
      CHECK(decoded(c.bytes, c.encoding, step) == c.text);
    }
  }
}

TEST_CASE("plain text: UTF-16 without a mark is known by its first characters") {
  for (const bytes::ByteOrder order : {bytes::ByteOrder::kLittle, bytes::ByteOrder::kBig}) {
    TestBytes text(order);
    for (const char letter : std::string("main;work 10\n")) {
      text.u16(static_cast<std::uint16_t>(letter));
    }
    const TextEncoding encoding = codec::text_encoding_of(text.bytes);
    CHECK(encoding == (order == bytes::ByteOrder::kLittle ? TextEncoding::kUtf16Little
                                                          : TextEncoding::kUtf16Big));
    CHECK(decoded(text.bytes, encoding, 7) == "main;work 10\n");
  }
}

TEST_CASE("plain text: halves of pairs and odd bytes become replacement characters") {
  const auto read = [](std::initializer_list<unsigned> units, bool odd) {
    TestBytes text;
    for (const unsigned unit : units) {
      text.u16(static_cast<std::uint16_t>(unit));
    }
    if (odd) {
      text.u8(0x61);
    }
    return decoded(text.bytes, TextEncoding::kUtf16Little, 64);
  };
  const std::string kReplaced = "\xEF\xBF\xBD";
  CHECK(read({0xD834, 0x61}, false) == kReplaced + "a");
  CHECK(read({0xDD1E, 0x61}, false) == kReplaced + "a");
  CHECK(read({0x61, 0xD834}, false) == "a" + kReplaced);
  CHECK(read({0xD834, 0xD834, 0xDD1E}, false) == kReplaced + "\xF0\x9D\x84\x9E");
  CHECK(read({0x61}, true) == "a" + kReplaced);
}

TEST_CASE("plain text: what is no text is left alone") {
  for (const std::string& bytes :
       {std::string(), std::string("PERFILE2"), std::string(64, '\0'),
        std::string("\x1f\x8b\x08\0\0", 5), std::string("\0\1\0\1\0\1\0\1\0\1\0\1", 12),
        std::string("a\0b", 3), std::string("one\r")}) {
    CHECK(codec::text_encoding_of(TestBytes().text(bytes).bytes) == TextEncoding::kPlain);
  }
}
