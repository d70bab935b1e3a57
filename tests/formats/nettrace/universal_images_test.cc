// Images of universal providers, whose mappings and build ids come apart.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "formats/nettrace/nettrace_source.h"
#include "io/byte_source.h"
#include "support/collecting_sink.h"
#include "support/nettrace_writer.h"

namespace stackpack::test {
namespace {

TEST_SUITE("nettrace") {
  TEST_CASE("universal events: an image has its build id, whichever is told first") {
    const auto mapping_of = [](std::uint64_t base, std::string_view path, std::uint64_t about) {
      TestBytes mapping;
      for (const std::uint64_t field : {std::uint64_t{8}, base, base + 0x1000, std::uint64_t{0}}) {
        put_varint(mapping, field);
      }
      put_varint(put_short_utf8(mapping, path), about);
      return mapping;
    };
    const auto metadata_of = [](std::uint64_t id, std::string_view json) {
      TestBytes metadata;
      put_short_utf8(put_varint(metadata, id), json);
      put_short_utf8(metadata, "");
      return metadata;
    };
    struct Told {
      std::uint32_t metadata;
      TestBytes payload;
    };
    const std::vector<Told> told = {{3, mapping_of(0x401000, "/bin/app", 1)},
                                    {3, mapping_of(0x501000, "/lib/one.so", 2)},
                                    {3, mapping_of(0x601000, "/lib/none.so", 0)},
                                    {5, metadata_of(1, R"({"build_id":"00aabbff"})")},
                                    {5, metadata_of(2, R"({"build_id":"1122"})")}};
    std::vector<std::size_t> order = {0, 1, 2, 3, 4};
    do {
      NettraceWriter out(6);
      out.metadata(3, "Universal.System", 3, "ProcessMapping", 0, "Id");
      out.metadata(5, "Universal.System", 5, "ProcessMappingMetadata", 0, "Id");
      out.thread(1, 10, 11);
      out.stacks(1, {{0x401020}});
      std::vector<NettraceEvent> events;
      for (const std::size_t i : order) {
        NettraceEvent& event = events.emplace_back();
        const auto number = static_cast<std::uint32_t>(events.size());
        event.number = number;
        event.ticks = 2000 + number;
        event.payload = told[i].payload.bytes;
        event.metadata = told[i].metadata;
        event.thread = event.capture_thread = 1;
      }
      out.events(events);
      const std::vector<std::byte> trace = out.finish();
      const auto source = io::source_of_memory(trace);
      CollectingSink sink;
      REQUIRE(nettrace::read_capture(*source, sink, {}));
      const capture::SystemTables tables = sink.system_facts.finish();
      REQUIRE(tables.modules.size() == 3);
      for (const Module& module : tables.modules) {
        CAPTURE(module.path);
        CHECK(module.build_id ==
              (module.path == "/bin/app"      ? std::vector<std::uint8_t>{0, 0xAA, 0xBB, 0xFF}
               : module.path == "/lib/one.so" ? std::vector<std::uint8_t>{0x11, 0x22}
                                              : std::vector<std::uint8_t>{}));
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

}  // namespace
}  // namespace stackpack::test
