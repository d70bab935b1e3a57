// What traces say of the payloads of their events.
#include "formats/etl/names/event_schemas.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/etl_reading.h"
#include "support/payload_reading.h"

namespace stackpack::test {
namespace {

constexpr etl::Guid kSource = etl::make_guid(0x51d1f4ab, 0x1234, 0xbbbb, 0x1122, 0x334455667788);
constexpr etl::Guid kInfos = etl::make_guid(0xbbccf6c1, 0x6cd1, 0x48c4, 0x80ff, 0x839482e37671);

struct Property {
  std::string name;
  std::uint32_t flags = 0;
  std::uint16_t type = 0;
  std::uint16_t shown_as = 0;
  std::uint16_t count = 1;
  std::uint16_t length = 0;
};

// A TRACE_EVENT_INFO of event 3 of A-Provider.
TestBytes info_of(const std::vector<Property>& properties, std::uint32_t top) {
  TestBytes texts;
  const auto begin = static_cast<std::uint32_t>(112 + 24 * properties.size());
  const auto text = [&](std::string_view value) {
    const auto at = static_cast<std::uint32_t>(begin + texts.bytes.size());
    put_wide(texts, value);
    return at;
  };
  const std::uint32_t provider = text("A-Provider");
  const std::uint32_t task = text("Work");
  TestBytes info;
  info.u64(kSource.low).u64(kSource.high).u64(0).u64(0);
  info.u16(3).u8(1).u8(0).u8(4).u8(0).u16(9).u64(0);
  info.u32(0).u32(provider).zeros(12).u32(task).u32(0);
  info.zeros(100 - info.bytes.size());
  info.u32(static_cast<std::uint32_t>(properties.size())).u32(top).u32(0);
  for (const Property& one : properties) {
    info.u32(one.flags).u32(text(one.name)).u16(one.type).u16(one.shown_as).u32(0);
    info.u16(one.count).u16(one.length).u32(0);
  }
  return info.append(texts.bytes);
}

std::string learned(const TestBytes& info) {
  etl::EventView event;
  event.payload = info.bytes;
  capture::PayloadSchemas schemas;
  etl::learn_event_info(event, "A-Provider", "A-Provider/Work", schemas);
  const auto* const found = schemas.find(etl::schema_key(kSource, 3, 1));
  return found == nullptr ? "-" : schema_text(found->schema);
}

TestBytes trace_logging_fields() {
  TestBytes fields;
  fields.text("size").u8(0).u8(8);
  fields.text("flag").u8(0).u8(4 | 128).u8(3);
  fields.text("text").u8(0).u8(22);
  fields.text("list").u8(0).u8(6 | 64);
  fields.text("three").u8(0).u8(7 | 32).u16(3);
  fields.text("in").u8(0).u8(24 | 128).u8(1).text("of").u8(0).u8(2);
  fields.text("blob").u8(0).u8(14);
  return fields;
}

std::vector<EtlExtendedItem> trace_logging_items(const TestBytes& fields) {
  TestBytes traits;
  traits.u16(9).text("Traced").u8(0);
  TestBytes schema;
  schema.u16(static_cast<std::uint16_t>(2 + 1 + 4 + fields.bytes.size())).u8(0).text("Job").u8(0);
  schema.append(fields.bytes);
  return {{0x0C, traits.bytes}, {0x0B, schema.bytes}};
}

TEST_SUITE("etl event schemas") {
  TEST_CASE("etl event schemas: TRACE_EVENT_INFO") {
    CHECK(learned(info_of({{"n", 0, 8},
                           {"text", 0, 1},
                           {"fixed", 0, 1, 0, 1, 5},
                           {"blob", 2, 14, 0, 1, 0},
                           {"at", 0, 16},
                           {"list", 4, 6, 0, 0, 0},
                           {"two", 0, 7, 0, 2},
                           {"pair", 1, 8, 1},
                           {"inner", 0, 2}},
                          8)) ==
          "n:u4 text:w fixed:w[=5] blob:x[#0] at:p list:u2[#0] two:s4[=2] pair{inner:t}");
    CHECK(learned(info_of({{"odd", 0, 999}, {"after", 0, 8}}, 2)) == "odd:x");
    // More properties than there are, a struct of itself.
    CHECK(learned(info_of({{"n", 0, 8}}, 2)) == "");
    const std::string endless = learned(info_of({{"self", 1, 0, 1}}, 1));
    CHECK(endless.starts_with("self{self{"));
  }

  TEST_CASE("etl event schemas: a manifest, whose templates come after its events") {
    constexpr std::string_view kXml =
        "<provider name=\"My\" guid=\"{1}\"><events>"
        "<event value=\"7\" version=\"2\" symbol=\"Job\" template=\"JobArgs\"/>"
        "<event value=\"8\" symbol=\"Plain\"/></events><templates><template tid=\"JobArgs\">"
        "<data name=\"id\" inType=\"win:Int32\"/><data name=\"ok\" inType=\"win:Boolean\"/>"
        "<data name=\"what\" inType=\"win:UnicodeString\"/>"
        "<data name=\"size\" inType=\"win:UInt32\"/>"
        "<data name=\"blob\" inType=\"win:Binary\" length=\"size\"/></template></templates>";
    capture::PayloadSchemas schemas;
    etl::learn_manifest(kSource, kXml, schemas);
    const auto* const job = schemas.find(etl::schema_key(kSource, 7, 2));
    REQUIRE(job != nullptr);
    CHECK(job->name == "My/Job");
    CHECK(job->provider == "My");
    CHECK(schema_text(job->schema) == "id:s4 ok:b4 what:w size:u4 blob:x[#3]");
    REQUIRE(schemas.find(etl::schema_key(kSource, 8, 0)) != nullptr);
    CHECK(schemas.find(etl::schema_key(kSource, 8, 0))->schema.empty());
  }

  TEST_CASE("etl event schemas: events that describe themselves, and those described later") {
    TestBytes payload;
    payload.u32(9).u8(1).u16(2).text("h").u8(0).u16(2).u16(4).u16(5);
    payload.u32(1).u32(2).u32(3).text("in").u8(0).u16(2).u8(0xAB).u8(0xCD);
    const auto trace = make_etl({}, [&](EtlWriter& out) {
      out.provider(0, 1'000'100, kSource, 3, 0, 1, 7, 5, TestBytes().u32(77).u16('x').u16(0));
      out.provider(0, 1'000'200, kInfos, 9, 1, 0, 7, 5, payload,
                   trace_logging_items(trace_logging_fields()));
      out.class_event(0, 1'000'500, kInfos, 32, 0, 7, 5, info_of({{"n", 0, 8}, {"text", 0, 1}}, 2));
    });
    const auto read = [&trace](PayloadReading& reading) {
      const auto source = io::source_of_memory(trace);
      REQUIRE(etl::read_capture(*source, reading, {}));
    };
    PayloadReading late("A-Provider");
    late.active = false;
    read(late);
    CHECK(late.lines.empty());
    late.active = true;
    read(late);
    CHECK(late.lines == std::vector<std::string>{"A-Provider/Work 5 7 n=77 text=x"});
    PayloadReading traced("Traced");
    read(traced);
    CHECK(traced.lines ==
          std::vector<std::string>{
              "Traced/Job 5 7 size=9 flag=1 text=h list=4,5, three=1,2,3, in.of=in blob=abcd"});
  }
}

}  // namespace
}  // namespace stackpack::test
