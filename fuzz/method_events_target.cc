// Method events and the events that name others: whatever the payload, reading ends well, and what
// was taken from a payload of some length is taken from a longer one, too.
//
// First byte: the role; second byte: pointer size and, above, the version; the rest: payload.
#include <cstdint>
#include <span>
#include <string>

#include "formats/dotnet/method_payload.h"
#include "formats/etl/names/event_titles.h"
#include "formats/etl/names/method_events.h"
#include "fuzz/require.h"

namespace stackpack::fuzz {

namespace {

etl::EventView event_of(std::span<const std::byte> payload, std::uint8_t shape) {
  etl::EventView event;
  event.cls = etl::EventClass::kProvider;
  event.guid = etl::make_guid(0x57277741, 0x3638, 0x4a4b, 0xbdba, 0x0ac6e45da56c);
  event.pid = 7;
  event.type = 32;
  event.pointer_size = (shape & 1) != 0 ? 4 : 8;
  event.version = shape >> 1;
  event.payload = payload;
  return event;
}

void read_method(std::span<const std::byte> payload, std::uint8_t role, std::uint8_t shape) {
  constexpr std::uint8_t kRoles = 8;
  const auto wanted = static_cast<etl::MethodRole>(1 + role % kRoles);
  etl::MethodReader reader;
  capture::FunctionFact fact;
  const bool good = reader.read(event_of(payload, shape), wanted, fact);
  const std::string name(fact.name);
  require(name.size() <= 3 * payload.size() / 2 + 1);
  std::vector<std::byte> longer(payload.begin(), payload.end());
  longer.resize(longer.size() + 2);  // another NUL
  capture::FunctionFact again;
  const bool still_good = reader.read(event_of(longer, shape), wanted, again);
  require(!good || still_good);
  if (good) {
    require(again.name == name && again.start == fact.start && again.size == fact.size);
  }
  capture::FunctionFact later;
  if (etl::MethodReader::read_all_but_name(event_of(payload, shape), wanted, later)) {
    std::string later_name;
    require(dotnet::read_method_name(payload, later_name) == good);
    require(!good || (later_name == name && later.start == fact.start && later.size == fact.size));
  }
}

void read_titles(std::span<const std::byte> payload, std::uint8_t shape) {
  etl::EventTitles titles;
  etl::EventView event = event_of(payload, shape);
  titles.event_info(event);
  titles.manifest_piece(event);
  event.extended = payload;
  const std::string title = titles.trace_logging_title(event);
  require(title.size() <= payload.size() + 64);
  etl::EventKind kind;
  kind.cls = etl::EventClass::kProvider;
  kind.guid = event.guid;
  for (std::uint16_t id = 0; id < 16; ++id) {
    kind.id = id;
    require(titles.title_of(kind).size() <= etl::EventTitles::kMostBytes + 64);
  }
}

}  // namespace

void method_events(std::span<const std::byte> data) {
  if (data.size() < 2) {
    return;
  }
  const auto role = static_cast<std::uint8_t>(data[0]);
  const auto shape = static_cast<std::uint8_t>(data[1]);
  read_method(data.subspan(2), role, shape);
  read_titles(data.subspan(2), shape);
}

}  // namespace stackpack::fuzz
