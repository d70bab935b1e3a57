// Event headers of all families, and how events are counted.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "formats/etl/event/etl_event_names.h"
#include "formats/etl/event/event_header.h"
#include "formats/etl/event/event_kinds.h"
#include "support/etl_reading.h"

namespace stackpack::etl {
namespace {

constexpr Guid kImageClass = make_guid(0x2cb15d1d, 0x5fc1, 0x11d2, 0xabe1, 0x00a0c911f518);
constexpr Guid kSome = make_guid(0x12345678, 0x9abc, 0xdef0, 0x1122, 0x334455667788);

// The events of the first buffer after the header buffer.
std::vector<std::byte> events_of(const test::EtlOptions& options,
                                 const std::function<void(test::EtlWriter&)>& write) {
  std::vector<std::byte> file = test::make_etl(options, write);
  REQUIRE(file.size() >= 2 * std::size_t{options.buffer_size});
  const std::span<const std::byte> buffer =
      std::span(file).subspan(options.buffer_size, options.buffer_size);
  const std::uint32_t saved = bytes::ByteCursor(buffer.subspan(4), 0).read<std::uint32_t>();
  const auto events = buffer.subspan(0x48, saved - 0x48);
  return {events.begin(), events.end()};
}

TEST_SUITE_BEGIN("etl events");

TEST_CASE("GUIDs are written as Windows writes them") {
  CHECK(text_of(kSome) == "12345678-9abc-def0-1122-334455667788");
  test::TestBytes stored;
  stored.u32(0x12345678).u16(0x9abc).u16(0xdef0);
  for (unsigned byte = 0x11; byte <= 0x88; byte += 0x11) {
    stored.u8(static_cast<std::uint8_t>(byte));
  }
  bytes::ByteCursor in(stored.bytes, 0);
  CHECK(read_guid(in) == kSome);
}

TEST_CASE("every family of headers gives the same view") {
  struct Case {
    std::string_view name;
    std::function<void(test::EtlWriter&, const test::TestBytes&)> write;
    EventClass cls;
    std::uint32_t tid;
    std::uint8_t group;
    std::uint8_t type;
    std::uint16_t version;
  };
  const Case cases[] = {
      {"system",
       [](test::EtlWriter& out, const test::TestBytes& payload) {
         out.system(1, 77, 3, 4, 5, 7, 8, payload);
       },
       EventClass::kKernel, 7, 3, 4, 5},
      {"compact",
       [](test::EtlWriter& out, const test::TestBytes& payload) {
         out.system(1, 77, 3, 4, 5, 7, 8, payload, true);
       },
       EventClass::kKernel, 7, 3, 4, 5},
      {"perfinfo",
       [](test::EtlWriter& out, const test::TestBytes& payload) {
         out.perf_info(1, 77, 15, 46, 2, payload);
       },
       EventClass::kKernel, kNoId, 15, 46, 2},
      {"perfinfo with counters",
       [](test::EtlWriter& out, const test::TestBytes& payload) {
         out.perf_info(1, 77, 15, 46, 2, payload, 3);
       },
       EventClass::kKernel, kNoId, 15, 46, 2},
      {"full, of a kernel class",
       [](test::EtlWriter& out, const test::TestBytes& payload) {
         out.class_event(1, 77, kImageClass, 10, 2, 7, 8, payload);
       },
       EventClass::kKernel, 7, 20, 10, 2},
      {"full, of another class",
       [](test::EtlWriter& out, const test::TestBytes& payload) {
         out.class_event(1, 77, kSome, 10, 300, 7, 8, payload);
       },
       EventClass::kClass, 7, 0, 10, 300},
      {"instance",
       [](test::EtlWriter& out, const test::TestBytes& payload) {
         out.class_event(1, 77, kSome, 10, 2, 7, 8, payload, true);
       },
       EventClass::kClass, 7, 0, 10, 2},
      {"provider",
       [](test::EtlWriter& out, const test::TestBytes& payload) {
         out.provider(1, 77, kSome, 99, 10, 2, 7, 8, payload);
       },
       EventClass::kProvider, 7, 0, 10, 2},
      {"provider with extended items",
       [](test::EtlWriter& out, const test::TestBytes& payload) {
         out.provider(1, 77, kSome, 99, 10, 2, 7, 8, payload,
                      {{11, std::vector<std::byte>(5)}, {1, std::vector<std::byte>(16)}});
       },
       EventClass::kProvider, 7, 0, 10, 2},
  };
  test::TestBytes payload;
  payload.u32(0xCAFE).u8(1);
  for (const Case& example : cases) {
    for (const unsigned pointer_size : {4U, 8U}) {
      CAPTURE(example.name);
      CAPTURE(pointer_size);
      test::EtlOptions options;
      options.pointer_size = pointer_size;
      const auto events = events_of(options, [&](test::EtlWriter& out) {
        out.message(1, 20);
        example.write(out, payload);
        out.sample(1, 78, 9, 1);
      });
      EventWalker walker(events);
      EventView event;
      REQUIRE(walker.next(event));
      CHECK(walker.messages() == 1);
      CHECK(event.cls == example.cls);
      CHECK(event.clock == 77);
      CHECK(event.tid == example.tid);
      CHECK(event.type == example.type);
      CHECK(event.version == example.version);
      CHECK(event.pointer_size == pointer_size);
      CHECK(event.position == 24);
      if (example.cls == EventClass::kKernel) {
        CHECK(event.group == example.group);
      } else {
        CHECK(event.guid == kSome);
      }
      CHECK(std::equal(event.payload.begin(), event.payload.end(), payload.bytes.begin(),
                       payload.bytes.end()));
      REQUIRE(walker.next(event));
      CHECK(event.clock == 78);
      CHECK_FALSE(walker.next(event));
      CHECK(walker.end() == WalkEnd::kClean);
    }
  }
}

TEST_CASE("the end of an event stream has its reasons") {
  struct Case {
    std::string_view name;
    std::function<void(std::vector<std::byte>&)> damage;  // of two events of 0x20 bytes
    std::size_t events;
    WalkEnd end;
  };
  const Case cases[] = {
      {"nothing", [](auto&) {}, 2, WalkEnd::kClean},
      {"zeros", [](auto& bytes) { std::fill(bytes.begin() + 32, bytes.end(), std::byte{0}); }, 1,
       WalkEnd::kUnusedRest},
      {"ones", [](auto& bytes) { std::fill(bytes.begin() + 32, bytes.end(), std::byte{0xFF}); }, 1,
       WalkEnd::kUnusedRest},
      {"a bad top byte", [](auto& bytes) { bytes[32 + 3] = std::byte{0x40}; }, 1,
       WalkEnd::kBadMarker},
      {"an unknown header type", [](auto& bytes) { bytes[32 + 2] = std::byte{0x55}; }, 1,
       WalkEnd::kBadMarker},
      {"an obsolete header type", [](auto& bytes) { bytes[32 + 2] = std::byte{0x0D}; }, 1,
       WalkEnd::kOldHeader},
      {"size zero", [](auto& bytes) { bytes[32 + 4] = std::byte{0}; }, 1, WalkEnd::kBadSize},
      {"shorter than its header", [](auto& bytes) { bytes[32 + 4] = std::byte{0x0F}; }, 1,
       WalkEnd::kBadSize},
      {"longer than the buffer", [](auto& bytes) { bytes[32 + 5] = std::byte{1}; }, 1,
       WalkEnd::kBadSize},
      {"a message that is too short",
       [](auto& bytes) {
         bytes[32 + 3] = std::byte{0x90};
         bytes[32] = std::byte{4};
         bytes[33] = std::byte{0};
       },
       1, WalkEnd::kBadSize},
  };
  const auto intact = events_of({}, [](test::EtlWriter& out) {
    out.sample(1, 1, 2, 3);
    out.sample(1, 2, 2, 3);
  });
  REQUIRE(intact.size() == 64);
  for (const Case& example : cases) {
    CAPTURE(example.name);
    auto bytes = intact;
    example.damage(bytes);
    EventWalker walker(bytes);
    EventView event;
    std::size_t events = 0;
    while (walker.next(event)) {
      ++events;
    }
    CHECK(events == example.events);
    CHECK(walker.end() == example.end);
  }
}

TEST_CASE("extended items stay within their event") {
  for (const std::uint16_t size : {std::uint16_t{16}, std::uint16_t{400}}) {
    test::TestBytes payload;
    auto events = events_of({}, [&](test::EtlWriter& out) {
      out.provider(1, 1, kSome, 9, 1, 0, 2, 3, payload, {{6, std::vector<std::byte>(16)}});
    });
    events[0x50 + 6] = static_cast<std::byte>(size & 0xFF);
    events[0x50 + 7] = static_cast<std::byte>(size >> 8);
    EventWalker walker(events);
    EventView event;
    CHECK(walker.next(event) == (size == 16));
    CHECK(walker.end() == (size == 16 ? WalkEnd::kNotYet : WalkEnd::kBadExtended));
  }
}

TEST_CASE("kernel events have the names of the ecosystem") {
  CHECK(kernel_event_name(15, 46) == "PerfInfo/SampledProfile");
  CHECK(kernel_event_name(5, 36) == "Thread/CSwitch");
  CHECK(kernel_event_name(5, 50) == "Thread/ReadyThread");
  CHECK(kernel_event_name(1, 10) == "DiskIo/Read");
  CHECK(kernel_event_name(3, 10) == "Image/Load");
  CHECK(kernel_event_name(14, 99) == "Pool/99");
  CHECK(kernel_event_name(200, 3) == "200/3");
}

TEST_CASE("events are counted by kind") {
  const auto file = test::make_etl({}, [](test::EtlWriter& out) {
    out.sample(0, 10, 7, 1);
    out.sample(1, 11, 7, 1);
    out.context_switch(0, 12, 7, 8);
    out.class_event(0, 13, kImageClass, 3, 1, 7, 8, test::TestBytes().u64(1).u64(2).u32(3));
    out.class_event(0, 14, kSome, 3, 700, 7, 8, test::TestBytes());
    out.provider(0, 15, kSome, 5, 6, 2, 7, 8, test::TestBytes(),
                 {{11, {}}, out.stack_item(0, {1})});
    out.provider(0, 16, kSome, 5, 7, 2, 7, 8, test::TestBytes());
    out.message(0, 16);
  });
  const auto reading = test::read_etl(file);
  const std::map<std::string, std::uint64_t> expected = {
      {"EventTrace/0/v2", 1},
      {"PerfInfo/46/v2", 2},
      {"Thread/36/v4", 1},
      {"Image/3/v1", 1},
      {text_of(kSome) + "/op3/v700", 1},
      {text_of(kSome) + "/id5/op6/v2", 1},
      {text_of(kSome) + "/id5/op7/v2", 1},
      {"ext_item_type_11", 1},
      {"ext_item_type_6", 1},
  };
  CHECK(reading->summary.event_counts == expected);
  CHECK(reading->summary.wpp_messages == 1);
  CHECK(reading->summary.events == 8);
  CHECK(reading->accounted());
}

TEST_CASE("the number of kinds is bounded, the events of further ones are still read") {
  const auto file = test::make_etl({}, [](test::EtlWriter& out) {
    for (std::uint32_t i = 0; i < EventKinds::kMaxKinds + 500; ++i) {
      out.provider(0, 10 + i, kSome, static_cast<std::uint16_t>(i), 0, 0, 7, 8, test::TestBytes());
    }
    out.sample(0, 1'000'000, 7, 5);
    out.stack(0, 1'000'001, 1'000'000, 8, 7, {5});
  });
  const auto reading = test::read_etl(file);
  CHECK(reading->summary.event_counts.size() <= EventKinds::kMaxKinds);
  CHECK(reading->summary.event_counts.at("other") > 500);
  CHECK(reading->loss("events_of_uncounted_kinds") == reading->summary.event_counts.at("other"));
  CHECK(reading->summary.timer_samples == 1);
  CHECK(reading->listing() == std::map<std::string, std::uint64_t>{{"u5", 1}});
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::etl
