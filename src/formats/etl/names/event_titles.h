// Names of events and providers, where the trace itself has them. There are three ways:
//
// - A merge adds an event of class bbccf6c1, type 32, for each kind of event that the recording
//   machine could decode: a TRACE_EVENT_INFO, whose texts are UTF-16 at offsets from its start.
// - A provider made with .NET's EventSource logs its own manifest, XML in pieces, as event 65534:
//   u8 format 1, u8 major, u8 minor, u8 0x5B, u16 pieces, u16 number of this one, text.
// - An event of TraceLogging carries its name in an extended item (0x0B: u16 size, bytes of tags as
//   long as the highest bit is set, UTF-8 name NUL, fields), and its provider's in another one
//   (0x0C: u16 size, UTF-8 name NUL).
//
// Source: tdh.h and TraceLoggingProvider.h as Microsoft documents them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "capture/payload_schema.h"
#include "formats/etl/event/event_header.h"
#include "formats/etl/event/event_kinds.h"

namespace stackpack::etl {

/// Collects such names. An event is called "Provider/Task/Opcode", without an opcode that says
/// nothing ("Info"); of TraceLogging "Provider/Name".
///
/// Memory: kMostBytes of names, kMostManifestBytes of manifests that are not complete.
class EventTitles {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMostManifestBytes = std::size_t{1} << 20;

  /// Descriptions of payloads go to `schemas`, which must outlive this.
  void learn_schemas(capture::PayloadSchemas& schemas) { schemas_ = &schemas; }

  /// Class bbccf6c1, type 32.
  void event_info(const EventView& event);

  /// Event 65534 of any provider.
  void manifest_piece(const EventView& event);

  /// The name of an event of TraceLogging; empty when it is none.
  std::string trace_logging_title(const EventView& event);

  /// The name of a provider; empty when nobody knows it.
  [[nodiscard]] std::string provider_of(const Guid& guid) const;

  /// What is known of events of this kind in the end; empty when that is nothing.
  [[nodiscard]] std::string title_of(const EventKind& kind) const;

 private:
  using GuidKey = std::pair<std::uint64_t, std::uint64_t>;
  /// Class or provider, its GUID, and the event's id (class: type).
  using Key = std::tuple<EventClass, GuidKey, std::uint16_t>;

  static GuidKey key_of(const Guid& guid) { return {guid.low, guid.high}; }
  void name_provider(const Guid& guid, std::string_view name);
  void name_event(const Key& key, std::string title);
  void read_manifest(const Guid& guid, std::string_view text);

  struct Manifest {
    std::string text;
    std::uint32_t next_piece = 0;
  };

  std::map<GuidKey, std::string> providers_;
  std::map<Key, std::string> events_;
  std::map<GuidKey, Manifest> manifests_;
  capture::PayloadSchemas* schemas_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t manifest_bytes_ = 0;
};

}  // namespace stackpack::etl
