// Names of events and providers that a trace has itself.
#include "formats/etl/names/event_titles.h"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "support/etl_reading.h"

namespace stackpack::test {
namespace {

constexpr etl::Guid kProvider = etl::make_guid(0xe13c0d23, 0xaaaa, 0xbbbb, 0x1122, 0x334455667788);
constexpr etl::Guid kClass = etl::make_guid(0x11111111, 0xaaaa, 0xbbbb, 0x1122, 0x334455667788);
constexpr etl::Guid kInfoClass = etl::make_guid(0xbbccf6c1, 0x6cd1, 0x48c4, 0x80ff, 0x839482e37671);
constexpr std::uint16_t kManifestEvent = 65534;

// A TRACE_EVENT_INFO.
TestBytes event_info(std::uint16_t id, std::uint8_t opcode, std::uint32_t source,
                     std::string_view provider, std::string_view task,
                     std::string_view opcode_name) {
  constexpr std::uint32_t kTexts = 112;
  TestBytes texts;
  const auto text = [&](std::string_view value) {
    if (value.empty()) {
      return std::uint32_t{0};
    }
    const auto offset = static_cast<std::uint32_t>(kTexts + texts.bytes.size());
    put_wide(texts, value);
    return offset;
  };
  const std::uint32_t provider_at = text(provider);
  const std::uint32_t task_at = text(task);
  const std::uint32_t opcode_at = text(opcode_name);
  TestBytes info;
  info.u64(kProvider.low).u64(kProvider.high).u64(kClass.low).u64(kClass.high);
  info.u16(id).u8(1).u8(0).u8(4).u8(opcode).u16(9).u64(0);
  info.u32(source).u32(provider_at).zeros(12).u32(task_at).u32(opcode_at);
  info.bytes.resize(kTexts);
  return info.append(texts.bytes);
}

TestBytes manifest_piece(std::uint16_t pieces, std::uint16_t number, std::string_view text) {
  TestBytes bytes;
  return bytes.u8(1).u8(1).u8(0).u8(0x5B).u16(pieces).u16(number).text(text);
}

std::vector<EtlExtendedItem> trace_logging(std::string_view provider, std::string_view name) {
  TestBytes traits;
  traits.u16(static_cast<std::uint16_t>(3 + provider.size())).text(provider).u8(0);
  TestBytes schema;
  schema.u16(static_cast<std::uint16_t>(12 + name.size())).u8(0x81).u8(0x01).text(name).u8(0);
  schema.text("Field").u8(0).u8(1);
  return {{0x0C, traits.bytes}, {0x0B, schema.bytes}};
}

// The names of the events of all samples, in order.
std::vector<std::string> names_of(const std::function<void(EtlWriter&)>& write) {
  const auto reading = read_etl(make_etl({}, write));
  REQUIRE_FALSE(reading->failed);
  CHECK(reading->accounted());
  std::vector<std::string> names;
  for (const auto& row : reading->sink.rows) {
    names.push_back(reading->sink.events.at(row.sample.event).name);
  }
  return names;
}

// An event with a callstack.
void provider_event(EtlWriter& out, std::uint64_t clock, std::uint16_t id,
                    std::vector<EtlExtendedItem> items = {}) {
  items.push_back(out.stack_item(0, {kU + 1}));
  out.provider(0, clock, kProvider, id, 1, 0, 7, 5, TestBytes(), items);
}

using Names = std::vector<std::string>;

TEST_SUITE_BEGIN("etl event titles");

TEST_CASE(
    "events are called as the recording machine decoded them, before their first use or after") {
  CHECK(names_of([](EtlWriter& out) {
          provider_event(out, 1'000'100, 3);
          provider_event(out, 1'000'200, 4);
          provider_event(out, 1'000'300, 5);
          provider_event(out, 1'000'400, 6);
          for (const TestBytes& info : {event_info(3, 1, 0, "A-Provider ", "Work", "win:Start"),
                                        event_info(4, 0, 0, "A-Provider", "Rest", "win:Info"),
                                        event_info(5, 0, 0, "A-Provider", "", "")}) {
            out.class_event(0, 1'000'500, kInfoClass, 32, 0, 7, 5, info);
          }
        }) ==
        Names{"A-Provider/Work/Start", "A-Provider/Rest", "A-Provider/id5", "A-Provider/id6"});
}

TEST_CASE("without such events a provider's event goes by its numbers") {
  CHECK(names_of([](EtlWriter& out) { provider_event(out, 1'000'100, 3); }) ==
        Names{etl::text_of(kProvider) + "/id3"});
}

TEST_CASE("events of a class are called by class and type") {
  CHECK(names_of([](EtlWriter& out) {
          out.class_event(0, 1'000'050, kInfoClass, 32, 0, 7, 5,
                          event_info(0, 12, 1, "Old", "Class", "Begin"));
          out.class_event(0, 1'000'100, kClass, 12, 0, 7, 5, TestBytes());
          out.stack(0, 1'000'101, 1'000'100, 5, 7, {kU + 1});
        }) == Names{"Old/Class/Begin"});
}

TEST_CASE("a provider's own manifest may come in pieces") {
  constexpr std::string_view kXml =
      "<instrumentationManifest><provider name=\"My &amp; Source\" guid=\"{1}\" symbol=\"x\">"
      "<events>\n<event value=\"3\" version=\"0\" symbol=\"Work\" task=\"Job\" "
      "opcode=\"win:Stop\"/>\n"
      "<event value=\"4\" symbol=\"Only\"/><event value=\"x\" symbol=\"No\"/></events>";
  // The first piece comes twice, as when two sessions turn the provider on.
  constexpr std::uint16_t kTwice[] = {0, 0, 1};
  constexpr std::uint16_t kOnce[] = {0, 1};
  for (const std::size_t cut : {std::size_t{0}, std::size_t{70}}) {
    CAPTURE(cut);
    CHECK(names_of([&](EtlWriter& out) {
            if (cut == 0) {
              out.provider(0, 1'000'050, kProvider, kManifestEvent, 254, 1, 7, 5,
                           manifest_piece(1, 0, kXml));
            } else {
              for (const std::uint16_t piece : kTwice) {
                out.provider(
                    0, 1'000'050, kProvider, kManifestEvent, 254, 1, 7, 5,
                    manifest_piece(2, piece, piece == 0 ? kXml.substr(0, cut) : kXml.substr(cut)));
              }
              for (const std::uint16_t piece : kOnce) {
                out.provider(
                    0, 1'000'060, kProvider, kManifestEvent, 254, 1, 7, 5,
                    manifest_piece(2, piece, piece == 0 ? kXml.substr(0, cut) : kXml.substr(cut)));
              }
            }
            provider_event(out, 1'000'100, 3);
            provider_event(out, 1'000'200, 4);
            provider_event(out, 1'000'300, 5);
          }) == Names{"My & Source/Job/Stop", "My & Source/Only", "My & Source/id5"});
  }
}

TEST_CASE("events of TraceLogging are told apart by their names") {
  CHECK(names_of([](EtlWriter& out) {
          provider_event(out, 1'000'100, 0, trace_logging("Logger", "First"));
          provider_event(out, 1'000'200, 0, trace_logging("Logger", "Second"));
          provider_event(out, 1'000'300, 0, trace_logging("Logger", "First"));
          provider_event(out, 1'000'400, 0, trace_logging("Logger", "Second"));
          provider_event(out, 1'000'500, 9);
        }) ==
        Names{"Logger/First", "Logger/Second", "Logger/First", "Logger/Second", "Logger/id9"});
}

TEST_CASE("damaged names are passed over") {
  const TestBytes whole = event_info(3, 1, 0, "A-Provider", "Work", "win:Start");
  const TestBytes piece =
      manifest_piece(1, 0, "<provider name=\"N\"><event value=\"3\" symbol=\"S\"/>");
  for (std::size_t size = 0; size < whole.bytes.size(); size += 3) {
    CAPTURE(size);
    TestBytes cut;
    cut.append(std::span(whole.bytes).first(size));
    TestBytes other;
    other.append(std::span(piece.bytes).first(std::min(size, piece.bytes.size())));
    const Names names = names_of([&](EtlWriter& out) {
      out.class_event(0, 1'000'050, kInfoClass, 32, 0, 7, 5, cut);
      out.provider(0, 1'000'060, kProvider, kManifestEvent, 254, 1, 7, 5, other);
      provider_event(out, 1'000'100, 3, {{0x0B, {}}, {0x0C, {}}});
    });
    CHECK(names.size() == 1);
  }
}

TEST_CASE("names are bounded, whatever a trace has of them") {
  const std::string longest(60'000, 'x');
  const auto reading = read_etl(make_etl({.buffer_size = 1 << 17}, [&](EtlWriter& out) {
    for (std::uint16_t id = 0; id < 100; ++id) {
      out.class_event(0, 1'000'100 + id, kInfoClass, 32, 0, 7, 5,
                      event_info(id, 0, 0, "P", longest.substr(0, 30'000), ""));
    }
    for (std::uint16_t id = 0; id < 40; ++id) {
      provider_event(out, 1'000'900 + id, id);
    }
  }));
  REQUIRE_FALSE(reading->failed);
  std::size_t named = 0;
  for (const Event& event : reading->sink.events) {
    named += event.name.size() > 30'000 ? 1U : 0U;
  }
  CHECK(named == etl::EventTitles::kMostBytes / 30'002);
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
