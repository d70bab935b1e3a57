// Descriptions of fields in the metadata of events.
//
//   versions 1-5  u32 count, for each u32 type, [of an object: u32 count and its fields,] UTF-16
//   name tag 2 after them (.NET 5 and later: u32 size, u8 tag, size bytes) has a list of its own:
//   u32
//                 count, for each u32 size of all of it, UTF-16 name, u32 type, [of an array: u32
//                 type of its elements,] [of an object: u32 count and its fields]
//   version 6     u16 count, for each u16 size, string name, type; a type is u8, then [of an array,
//                 or one that stands elsewhere: the type of its elements,] [of an array of fixed
//                 length: u16 length,] [of an object: its fields]
//
// Source: NetTraceFormat.md and NetTraceFormat_v5.md of microsoft/perfview.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "capture/payload_schema.h"

namespace stackpack::nettrace {

/// The fields that EventMetadata::fields describes. A type that is not known takes the rest of the
/// payload as bytes. Empty: there is no description, or it cannot be read.
capture::PayloadSchema read_schema(std::uint32_t version, std::span<const std::byte> description,
                                   std::string_view provider);

}  // namespace stackpack::nettrace
