// What the payloads of events consist of, where a trace says so.
//
//   TRACE_EVENT_INFO  see event_titles.h: u32 properties at byte 100, u32 of them at the top, from
//                     byte 112 on 24 bytes each: u32 flags, u32 offset of the name, u16 type (of a
//                     struct: first member), u16 shown as (number of members), u32, u16 count,
//                     u16 length, u32
//   manifest          <template tid=".."><data name=".." inType="win:.." length=".."/>, and
//                     <event value=".." version=".." template=".."/>
//   TraceLogging      after the name of the event, for each field: name NUL, u8 type (32: u16
//   count,
//                     64: counted, 128: more), [u8 shown as (of a struct: number of members), [as
//                     long as the highest bit is set: u8]], [u16 count]
//
// Source: tdh.h and TraceLoggingProvider.h as Microsoft documents them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "capture/payload_schema.h"
#include "formats/etl/event/event_header.h"
#include "formats/etl/event/guid.h"

namespace stackpack::etl {

/// Under which key such an event is described.
std::string schema_key(const Guid& guid, std::uint16_t id, std::uint16_t version);

/// Describes the kind of event of a TRACE_EVENT_INFO whose names are known.
void learn_event_info(const EventView& event, std::string provider, std::string title,
                      capture::PayloadSchemas& schemas);

/// Describes the events of a manifest.
void learn_manifest(const Guid& guid, std::string_view text, capture::PayloadSchemas& schemas);

/// The fields of an event of TraceLogging; empty when it is none, or says nothing.
capture::PayloadSchema trace_logging_schema(const EventView& event);

}  // namespace stackpack::etl
