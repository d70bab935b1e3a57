#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "capture/payload_schema.h"
#include "formats/dotnet/runtime_events.h"
#include "formats/etl/event/etl_clock.h"
#include "formats/etl/event/event_header.h"
#include "formats/etl/event/event_kinds.h"
#include "formats/etl/names/event_titles.h"

namespace stackpack::etl {

/// Hands over payloads of the events that a sink wants, each with what the trace says about it.
class EventPayloads {
 public:
  /// `sink` may be null: nothing is done then. References must outlive this.
  EventPayloads(capture::PayloadSink* sink, EventTitles& titles, const EtlClock& clock)
      : sink_(sink), titles_(titles), clock_(clock) {}

  [[nodiscard]] bool active() const { return sink_ != nullptr; }

  /// Any event, before others look at it. Errors: those of the sink.
  Status event(const EventView& event, const EventKind& kind);

 private:
  bool wants(const Guid& guid, std::string_view provider);
  const capture::PayloadSchema* runtime_fields(std::string_view provider, std::uint16_t id,
                                               unsigned version);

  capture::PayloadSink* sink_;
  EventTitles& titles_;
  const EtlClock& clock_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, bool> wanted_;
  static constexpr std::size_t kMostRuntimeEvents = std::size_t{1} << 12;
  std::map<std::tuple<dotnet::Provider, std::uint16_t, unsigned>, capture::PayloadSchema>
      runtime_fields_;  // kMostRuntimeEvents of them
};

}  // namespace stackpack::etl
