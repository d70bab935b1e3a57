// Descriptions of fields in metadata.
#include "formats/nettrace/payload_fields.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "capture/payload_schema.h"
#include "formats/nettrace/nettrace_source.h"
#include "support/nettrace_maker.h"
#include "support/payload_reading.h"

namespace stackpack::test {
namespace {

using capture::PayloadExtent;
using capture::PayloadType;

std::vector<std::byte> wide(std::string_view text) {
  TestBytes bytes;
  put_utf16(bytes, text);
  return bytes.bytes;
}

TEST_SUITE("nettrace payload fields") {
  TEST_CASE("nettrace payload fields: versions 3 to 5") {
    TestBytes about;
    about.u32(4).u32(9).append(wide("count")).u32(18).append(wide("text"));
    about.u32(1).u32(1).u32(3).append(wide("flag")).append(wide("inner"));  // an object
    about.u32(16).append(wide("when"));
    const auto schema = nettrace::read_schema(4, about.bytes, "My");
    CHECK(schema_text(schema) == "count:s4 text:w inner{flag:b4} when:f8");
    // One that is cut says nothing.
    about.bytes.pop_back();
    CHECK(nettrace::read_schema(4, about.bytes, "My").empty());
  }

  TEST_CASE("nettrace payload fields: the second list of version 5") {
    const auto field = [](std::string_view name, const TestBytes& type) {
      TestBytes row;
      row.append(wide(name)).append(type.bytes);
      return TestBytes().u32(static_cast<std::uint32_t>(4 + row.bytes.size())).append(row.bytes);
    };
    TestBytes list;
    list.u32(3);
    list.append(field("numbers", TestBytes().u32(19).u32(8)).bytes);
    list.append(field("bytes", TestBytes().u32(19).u32(6)).bytes);
    list.append(field("text", TestBytes().u32(19).u32(4)).bytes);
    TestBytes about;
    about.u32(0).u32(1).u8(1).u8(11);  // an opcode
    about.u32(static_cast<std::uint32_t>(list.bytes.size())).u8(2).append(list.bytes);
    CHECK(schema_text(nettrace::read_schema(4, about.bytes, "My")) ==
          "numbers:u2[] bytes:x[] text:c2[]");
  }

  TEST_CASE("nettrace payload fields: version 6") {
    const auto field = [](std::string_view name, const TestBytes& type) {
      TestBytes row;
      put_utf8(row, name).append(type.bytes);
      return TestBytes().u16(static_cast<std::uint16_t>(row.bytes.size())).append(row.bytes);
    };
    TestBytes about;
    about.u16(5);
    about.append(field("id", TestBytes().u8(21)).bytes);
    about.append(field("four", TestBytes().u8(22).u8(9).u16(4)).bytes);
    about.append(field("there", TestBytes().u8(25).u8(23)).bytes);
    about.append(field("letter", TestBytes().u8(23)).bytes);
    about.append(field("odd", TestBytes().u8(77)).bytes);
    CHECK(schema_text(nettrace::read_schema(6, about.bytes, "My")) ==
          "id:v four:s4[=4] there:c1[@] letter:c1 odd:x");
    // The universal providers promise a letter, and write a text.
    CHECK(
        schema_text(nettrace::read_schema(6, about.bytes, "Universal.System")).find("letter:t[") !=
        std::string::npos);
  }

  TEST_CASE("nettrace payload fields: deep and long ones have an end") {
    TestBytes deep;
    for (int i = 0; i < 2000; ++i) {
      deep.u32(1).u32(1);
    }
    CHECK(nettrace::read_schema(4, deep.bytes, "My").empty());
    TestBytes many;
    many.u32(0xFFFFFFFF);
    for (int i = 0; i < 5000; ++i) {
      many.u32(6).u16(0);
    }
    CHECK(nettrace::read_schema(4, many.bytes, "My").empty());
  }

  TEST_CASE("nettrace payload fields: events go to who wants them") {
    NettraceWriter out(6, 8, 1'000'000'000);
    out.metadata(1, "My-Source", 5, "Job", 0, "Size");
    out.metadata(2, "Other", 5, "Job", 0, "Size");
    out.thread(7, 4321, 70);
    std::vector<NettraceEvent> events;
    for (const std::uint32_t kind : {1U, 2U, 1U}) {
      NettraceEvent event;
      event.metadata = kind;
      event.capture_thread = event.thread = 7;
      event.number = static_cast<std::uint32_t>(events.size() + 1);
      event.ticks = 1000 * (events.size() + 1);
      event.payload = TestBytes().u16(static_cast<std::uint16_t>(40 + events.size())).bytes;
      events.push_back(event);
    }
    out.events(events);
    const std::vector<std::byte> trace = out.finish();
    PayloadReading reading("My-Source");
    const auto source = io::source_of_memory(trace);
    REQUIRE(nettrace::read_capture(*source, reading, {}));
    CHECK(reading.lines == std::vector<std::string>{"My-Source/Job 4321 70 Size=40",
                                                    "My-Source/Job 4321 70 Size=42"});
    CHECK(reading.asked == std::vector<std::string>{"My-Source", "Other"});
  }
}

}  // namespace
}  // namespace stackpack::test
