// What Android's simpleperf adds to perf.data: records from type 32769 on, whose sizes have 32
// bits, and feature sections from bit 128 on.
//
//   FILE (128)       for each file: u32 size of the rest, path NUL, u32 type, u64 lowest address,
//                    u32 symbols, per symbol {u64 address, u32 length, name NUL}; type dex: u32
//                    count and u64 offsets; other types, later versions: u64 offset of that address
//   META_INFO (129)  pairs of texts with NULs: key, value
//   FILE2 (132)      for each file: u32 size, message of that size {1 path, 2 type, 3 lowest
//                    address, 4 symbol {1 address, 2 length, 3 name}, 6 ELF {1 file offset of the
//                    lowest address}, 7 kernel module {1 the same in memory}}
//
// Symbols of a file that is mapped with bit 0x4000 of the protection set, which the compiler of a
// run time wrote, have addresses in memory, whatever the type.
// Symbols are those that occurred in callstacks when the capture was recorded.
// Source: the description of the file format at the head of simpleperf's record_file_format.h, and
// its record_file.proto.
#pragma once

#include <cstdint>

#include "bytes/byte_cursor.h"
#include "formats/perf/capture_context.h"

namespace stackpack::perf {

/// Bits of feature sections.
enum class SimpleperfFeature : std::uint32_t {
  kFile = 128,
  kMetaInfo = 129,
  kFile2 = 132,
};

/// Whether a feature section is a sequence of files, each after its size.
constexpr bool lists_symbol_files(std::uint32_t feature) {
  return feature == static_cast<std::uint32_t>(SimpleperfFeature::kFile) ||
         feature == static_cast<std::uint32_t>(SimpleperfFeature::kFile2);
}

/// One file of such a section, without its size: its symbols become functions of the capture. All
/// mappings must be known.
/// Result: false when it makes no sense; what came before the damage is kept.
bool convert_symbol_file(std::uint32_t feature, bytes::ByteCursor content, CaptureContext& context);

/// Facts about the recording become metadata `simpleperf.KEY`, and names of events.
bool convert_meta_info(bytes::ByteCursor content, CaptureContext& context);

/// Record EVENT_ID: u64 count, then pairs of the index of an attribute and an event id of it.
bool convert_event_ids(bytes::ByteCursor payload, CaptureContext& context);

}  // namespace stackpack::perf
