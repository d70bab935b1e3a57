// Kinds of events, as the file describes them.
//
//   versions 3-5  u32 id, UTF-16 provider, u32 event, UTF-16 name, u64 keywords, u32 version, u32
//                 level, fields
//   versions 1, 2 GUID (1) or UTF-16 provider (2), u32 event, u32 version, u32 n, n bytes (u32
//   event,
//                 UTF-16 name, u64 keywords, u32 version, u32 level, fields); the id is the file
//                 offset of the row
//   version 6     block: u16 n, n bytes; rows: u16 size, varint id, string provider, varint event,
//                 string name, fields (u16 count, each u16 size, string name, type), u16 n, n bytes
//                 of {u8 what, value}
//
// Source: NetTraceFormat.md, NetTraceFormat_v5.md and NetPerfFormat.md of microsoft/perfview.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "bytes/byte_cursor.h"
#include "formats/dotnet/runtime_events.h"

namespace stackpack::nettrace {

struct EventMetadata {
  std::uint32_t id = 0;
  std::string provider_name;
  std::string name;  ///< that the file gives; of the runtime's own events none
  std::uint32_t event = 0;
  std::optional<unsigned> version;  ///< version 6 may leave it out
  std::string first_field;          ///< version 6
  bool has_process_id = false;      ///< version 6: one of the fields is called ProcessId
  dotnet::Provider provider = dotnet::Provider::kOther;
  /// What read_schema() reads; valid as long as the row that it stands in.
  std::span<const std::byte> fields;

  /// "Provider/Task/Opcode", or as much as is known.
  [[nodiscard]] std::string title() const;
};

/// Metadata of versions 1-5, in the payload of a row at `row_offset` of the file.
std::optional<EventMetadata> read_metadata(std::uint32_t version,
                                           std::span<const std::byte> payload,
                                           std::uint64_t row_offset);

/// The next row of a block of version 6, whose head was passed. False: it cannot be read, and `in`
/// stands at the next one, or has failed.
bool read_metadata_row(bytes::ByteCursor& in, EventMetadata& metadata);

}  // namespace stackpack::nettrace
