#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "formats/protobuf/code_entries.h"
#include "formats/protobuf/message_view.h"

namespace stackpack::protobuf {
namespace {

std::vector<std::byte> bytes_from(const std::vector<unsigned>& values) {
  std::vector<std::byte> bytes;
  for (const unsigned value : values) {
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

TEST_CASE("heads of fields: each kind, cut ones, and numbers of more than 64 bits") {
  struct Case {
    const char* name;
    std::vector<unsigned> input;
    bool known;
    bool whole;
    FieldHead head;
  };
  const Case cases[] = {
      {"a number of two bytes", {0x18, 0x96, 0x01}, true, true, {3, false, 150}},
      {"eight bytes", {0x19, 1, 0, 0, 0, 0, 0, 0, 2}, true, true, {3, false, 0x0200000000000001}},
      {"a length", {0x1A, 0x05}, true, true, {3, true, 5}},
      {"four bytes", {0x1D, 1, 0, 0, 2}, true, true, {3, false, 0x02000001}},
      {"a group", {0x1B}, false, true, {}},
      {"a cut number", {0x18, 0x96}, true, false, {}},
      {"65 bits",
       {0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x03},
       true,
       false,
       {}},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    const std::vector<std::byte> input = bytes_from(each.input);
    bytes::ByteCursor in(input, 0);
    FieldHead head;
    CHECK(read_field_head(in, head) == each.known);
    CHECK(in.ok() == each.whole);
    if (each.known && each.whole) {
      CHECK(head.number == each.head.number);
      CHECK(head.has_bytes == each.head.has_bytes);
      CHECK(head.value == each.head.value);
    }
  }
}

TEST_CASE("bytes of hexadecimal digits") {
  CHECK(bytes_of_hex("1Fa0") == std::vector<std::uint8_t>{0x1F, 0xA0});
  CHECK(bytes_of_hex("1fa").empty());
  CHECK(bytes_of_hex("1g").empty());
  CHECK(bytes_of_hex("-1").empty());
  CHECK(hex(0x1FA0) == "0x1fa0");
}

}  // namespace
}  // namespace stackpack::protobuf
