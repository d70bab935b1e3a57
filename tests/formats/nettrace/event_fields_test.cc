// Fields of the .NET runtime's events, which no capture describes.
#include "formats/dotnet/event_fields.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "capture/payload_decoder.h"
#include "formats/dotnet/runtime_events.h"
#include "formats/nettrace/nettrace_source.h"
#include "support/nettrace_maker.h"
#include "support/payload_reading.h"

namespace stackpack::test {
namespace {

using dotnet::Provider;

std::string fields_of(std::uint32_t id, std::optional<unsigned> version,
                      Provider provider = Provider::kRuntime) {
  return schema_text(dotnet::event_fields(provider, id, version));
}

TEST_SUITE("runtime event fields") {
  TEST_CASE("runtime event fields: later versions append") {
    CHECK(fields_of(81, 0) == "ContentionFlags:u1 ClrInstanceID:u2");
    CHECK(fields_of(81, 1) == fields_of(81, 0));
    CHECK(fields_of(81, 2) ==
          "ContentionFlags:u1 ClrInstanceID:u2 LockID:p AssociatedObjectID:p LockOwnerThreadID:u8");
    CHECK(fields_of(81, std::nullopt) == fields_of(81, 2));
    CHECK(fields_of(81, 9) == fields_of(81, 2));
    CHECK(fields_of(9, 0) == "Reason:u2");
    CHECK(fields_of(9, 1) == "Reason:u4 Count:u4 ClrInstanceID:u2");
    CHECK(fields_of(154, 1, Provider::kRundown).starts_with("ModuleID:h8 AssemblyID:h8"));
    CHECK(fields_of(251, 0).empty());
    CHECK(fields_of(81, 2, Provider::kOther).empty());
  }

  TEST_CASE("runtime event fields: lists are as long as a field says, texts and bytes as well") {
    CHECK(fields_of(39, 0) == "Name:w DataSize:u4 Data:x[#0] ClrInstanceID:u2");
    CHECK(fields_of(190, 0) ==
          "MethodID:h8 ReJITID:h8 MethodExtent:u1 CountOfMapEntries:u2 ILOffsets:u4[#1] "
          "NativeOffsets:u4[#1] ClrInstanceID:u2");
    TestBytes types;
    types.u32(2).u16(9);
    for (const std::uint64_t type : {0x10U, 0x20U}) {
      types.u64(type).u64(0x99).u32(1).u32(8).u8(14);
      put_utf16(types, type == 0x10 ? "A" : "B").u32(2).u64(type + 1).u64(type + 2);
    }
    capture::PayloadDecoder decoder;
    REQUIRE(decoder.decode(dotnet::event_fields(Provider::kRuntime, 15, 0), types.bytes, 8));
    std::string text;
    for (const capture::DecodedField& field : decoder.fields()) {
      text += field.name + ' ';
    }
    CHECK(
        text ==
        "Count ClrInstanceID Values.0.TypeID Values.0.ModuleID Values.0.TypeNameID Values.0.Flags "
        "Values.0.CorElementType Values.0.Name Values.0.TypeParameterCount "
        "Values.0.TypeParameters Values.1.TypeID Values.1.ModuleID Values.1.TypeNameID "
        "Values.1.Flags Values.1.CorElementType Values.1.Name Values.1.TypeParameterCount "
        "Values.1.TypeParameters ");
    CHECK(decoder.fields().back().values.back().bits == 0x22);
  }

  TEST_CASE("runtime event fields: who has fields has a name") {
    for (const Provider provider : {Provider::kRuntime, Provider::kRundown}) {
      for (std::uint32_t id = 0; id < 512; ++id) {
        CAPTURE(id);
        const bool has_fields = !dotnet::event_fields(provider, id, std::nullopt).empty();
        CHECK((!has_fields || !dotnet::event_name(provider, id).empty()));
        for (unsigned version = 0; has_fields && version < 4; ++version) {
          // Each version begins as the one before, but for those whose numbers became wider.
          const std::string before = fields_of(id, version, provider);
          const std::string after = fields_of(id, version + 1, provider);
          const bool rewritten = version == 0 && (id <= 2 || id == 9 || (id >= 154 && id <= 156));
          CHECK((rewritten || after.starts_with(before)));
        }
      }
    }
  }

  TEST_CASE("runtime event fields: payloads of a trace are decoded to their ends") {
    const std::vector<std::byte> trace = small_trace(4);
    PayloadReading sink("Microsoft-Windows-DotNETRuntime");
    const auto source = io::source_of_memory(trace);
    REQUIRE(nettrace::read_capture(*source, sink, {}));
    REQUIRE(sink.lines.size() == 27);
    for (const std::string& line : sink.lines) {
      CAPTURE(line);
      CHECK(line.find(" ?") == std::string::npos);
      // The trace says version 2 of them, and leaves out what that appended.
      const bool is_short = line.find("GC/HeapStats") != std::string::npos;
      CHECK((line.find(" !") != std::string::npos) == is_short);
    }
    CHECK(sink.lines[0].find("TypeName=System.String") != std::string::npos);
    CHECK(sink.lines[2].find("ExceptionMessage=not now") != std::string::npos);
  }
}

}  // namespace
}  // namespace stackpack::test
