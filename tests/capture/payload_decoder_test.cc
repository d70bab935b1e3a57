// Fields of events by their schema.
#include "capture/payload_decoder.h"

#include <bit>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/test_bytes.h"

namespace stackpack::test {
namespace {

using capture::DecodedField;
using capture::PayloadDecoder;
using capture::PayloadExtent;
using capture::PayloadField;
using capture::PayloadSchema;
using capture::PayloadType;
using capture::PayloadValue;

PayloadField field_of(std::string name, PayloadType type, std::uint8_t size = 4) {
  PayloadField field;
  field.name = std::move(name);
  field.type = type;
  field.size = size;
  return field;
}

PayloadField list_of(PayloadField field, PayloadExtent count, std::uint32_t number = 0) {
  field.count = count;
  field.count_number = number;
  return field;
}

std::string value_text(const PayloadValue& value) {
  switch (value.form) {
    case PayloadValue::Form::kSigned:
      return std::to_string(static_cast<std::int64_t>(value.bits));
    case PayloadValue::Form::kReal:
      return std::to_string(std::bit_cast<double>(value.bits));
    case PayloadValue::Form::kText:
      return value.text;
    case PayloadValue::Form::kBool:
      return value.bits != 0 ? "yes" : "no";
    default:
      return std::to_string(value.bits);
  }
}

// NAME=VALUE of each field; "short" where the payload does not fit.
std::vector<std::string> decoded(const PayloadSchema& schema, const TestBytes& payload,
                                 unsigned pointer_size = 8) {
  PayloadDecoder decoder;
  const bool fits = decoder.decode(schema, payload.bytes, pointer_size);
  std::vector<std::string> lines;
  for (const DecodedField& field : decoder.fields()) {
    std::string line = field.name + '=';
    for (const PayloadValue& value : field.values) {
      line += (field.is_list ? "+" : "") + value_text(value);
    }
    lines.push_back(line);
  }
  if (!fits) {
    lines.emplace_back("short");
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST_SUITE("payload decoder") {
  TEST_CASE("payload decoder: numbers") {
    const PayloadSchema schema = {
        field_of("i8", PayloadType::kSigned, 1),      field_of("u16", PayloadType::kUnsigned, 2),
        field_of("i32", PayloadType::kSigned, 4),     field_of("u64", PayloadType::kUnsigned, 8),
        field_of("real", PayloadType::kReal, 8),      field_of("single", PayloadType::kReal, 4),
        field_of("flag", PayloadType::kBool, 4),      field_of("small", PayloadType::kVarSigned),
        field_of("large", PayloadType::kVarUnsigned), field_of("at", PayloadType::kPointer)};
    TestBytes payload;
    payload.u8(0xFF).u16(0xFFFE).u32(0xFFFFFFF6).u64(1ULL << 40);
    payload.u64(std::bit_cast<std::uint64_t>(1.5)).u32(std::bit_cast<std::uint32_t>(0.25F));
    payload.u32(1).u8(3).u8(0x81).u8(0x01).u32(77);
    CHECK(decoded(schema, payload, 4) == Lines{"i8=-1", "u16=65534", "i32=-10", "u64=1099511627776",
                                               "real=1.500000", "single=0.250000", "flag=yes",
                                               "small=-2", "large=129", "at=77"});
  }

  TEST_CASE("payload decoder: texts, times and identities") {
    PayloadField counted = field_of("counted", PayloadType::kText8);
    counted.length = PayloadExtent::kPrefixed;
    PayloadField letters =
        list_of(field_of("letters", PayloadType::kChar16, 2), PayloadExtent::kPrefixed);
    PayloadField blob = field_of("blob", PayloadType::kBytes);
    blob.length = PayloadExtent::kField;
    blob.length_number = 0;
    PayloadField size = field_of("size", PayloadType::kUnsigned, 2);
    size.slot = 0;
    const PayloadSchema schema = {size,
                                  blob,
                                  field_of("wide", PayloadType::kText16),
                                  field_of("narrow", PayloadType::kText8),
                                  counted,
                                  letters,
                                  field_of("guid", PayloadType::kGuid, 16),
                                  field_of("when", PayloadType::kSystemTime, 16),
                                  field_of("who", PayloadType::kSid)};
    TestBytes payload;
    payload.u16(2).u8(0xAB).u8(0x01).u16('h').u16('i').u16(0).text("ok").u8(0);
    payload.u16(3).text("abc").u16(2).u16('x').u16('y');
    payload.u32(0x11223344).u16(0x5566).u16(0x7788).u64(0x0102030405060708);
    payload.u16(2024).u16(2).u16(4).u16(29).u16(12).u16(30).u16(15).u16(251);
    payload.u8(1).u8(2).zeros(5).u8(5).u32(21).u32(500);
    CHECK(decoded(schema, payload) == Lines{"size=2", "blob=ab01", "wide=hi", "narrow=ok",
                                            "counted=abc", "letters=xy",
                                            "guid=11223344-5566-7788-0807-060504030201",
                                            "when=2024-02-29T12:30:15.251Z", "who=S-1-5-21-500"});
  }

  TEST_CASE("payload decoder: lists and structs") {
    PayloadField pair = list_of(field_of("pair", PayloadType::kStruct), PayloadExtent::kFixed, 2);
    pair.members = {field_of("key", PayloadType::kUnsigned, 1),
                    field_of("of", PayloadType::kText8)};
    PayloadField elsewhere =
        list_of(field_of("there", PayloadType::kChar8, 1), PayloadExtent::kRelative);
    PayloadField absolute =
        list_of(field_of("here", PayloadType::kUnsigned, 2), PayloadExtent::kAbsolute);
    const PayloadSchema schema = {
        list_of(field_of("numbers", PayloadType::kSigned, 2), PayloadExtent::kPrefixed), pair,
        elsewhere, absolute};
    TestBytes payload;
    payload.u16(2).u16(7).u16(0xFFFF).u8(1).text("a").u8(0).u8(2).text("b").u8(0);
    payload.u16(4).u16(3).u16(2).u16(4).text("end");
    CHECK(decoded(schema, payload) == Lines{"numbers=+7+-1", "pair.0.key=1", "pair.0.of=a",
                                            "pair.1.key=2", "pair.1.of=b", "there=end", "here.0=7",
                                            "here.1=65535"});
  }

  TEST_CASE("payload decoder: a struct without a name, and counts within a struct") {
    PayloadField rows = list_of(field_of("", PayloadType::kStruct), PayloadExtent::kFixed, 2);
    PayloadField count = field_of("count", PayloadType::kUnsigned, 1);
    count.slot = 5;
    rows.members = {count,
                    list_of(field_of("of", PayloadType::kUnsigned, 1), PayloadExtent::kField, 5)};
    CHECK(decoded({rows}, TestBytes().u8(2).u8(7).u8(8).u8(1).u8(9)) ==
          Lines{"0.count=2", "0.of=+7+8", "1.count=1", "1.of=+9"});
    rows.members[1].count_number = 6;  // nobody has it
    CHECK(decoded({rows}, TestBytes().u8(2).u8(7)).back() == "short");
  }

  TEST_CASE("payload decoder: payloads that do not fit") {
    CHECK(decoded({field_of("a", PayloadType::kUnsigned, 4), field_of("b", PayloadType::kUnsigned)},
                  TestBytes().u32(5).u16(1)) == Lines{"a=5", "b=", "short"});
    PayloadField far = list_of(field_of("far", PayloadType::kChar8, 1), PayloadExtent::kRelative);
    CHECK(decoded({far}, TestBytes().u16(9).u16(9)) == Lines{"short"});
    CHECK(decoded({field_of("open", PayloadType::kText16)}, TestBytes().u16('x')).back() ==
          "short");
  }

  TEST_CASE("payload decoder: what takes no room has an end") {
    PayloadField nothing =
        list_of(field_of("n", PayloadType::kStruct), PayloadExtent::kFixed, 0xFFFFFFFF);
    PayloadField deep = nothing;
    deep.members = {nothing};
    PayloadDecoder decoder;
    CHECK_FALSE(decoder.decode({deep}, {}, 8));
    // Long names of many values.
    PayloadField named = nothing;
    named.members = {field_of(std::string(60'000, 'x'), PayloadType::kUnsigned, 1)};
    const TestBytes payload = TestBytes().zeros(60'000);
    CHECK_FALSE(decoder.decode({named}, payload.bytes, 8));
    std::size_t bytes = 0;
    for (const DecodedField& field : decoder.fields()) {
      bytes += field.name.size();
    }
    CHECK(bytes <= PayloadDecoder::kMostNameBytes);
  }

  TEST_CASE("payload schemas: the first one stays, and they are bounded") {
    capture::PayloadSchemas schemas;
    schemas.add("a", {"first", "P", {}});
    schemas.add("a", {"second", "P", {}});
    REQUIRE(schemas.find("a") != nullptr);
    CHECK(schemas.find("a")->name == "first");
    schemas.add("b", {std::string(capture::PayloadSchemas::kMostBytes, 'x'), "P", {}});
    CHECK(schemas.find("b") == nullptr);
  }
}

}  // namespace
}  // namespace stackpack::test
