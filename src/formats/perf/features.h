// Feature sections: what the recorder knew about machine, command and events. In a file they lie
// after the data, one for each bit of a bitmap; in a pipe each is a record with the same bytes.
//
// Source: perf.data-file-format.txt of the perf tool, "HEADER_...".
#pragma once

#include <cstdint>
#include <string_view>

#include "bytes/byte_cursor.h"
#include "formats/perf/capture_context.h"
#include "formats/perf/side_band.h"

namespace stackpack::perf {

enum class Feature : std::uint32_t {
  kTracingData = 1,
  kBuildId = 2,
  kHostname = 3,
  kOsRelease = 4,
  kVersion = 5,
  kArch = 6,
  kCpuCount = 7,
  kCpuDescription = 8,
  kCpuId = 9,
  kTotalMemory = 10,
  kCommandLine = 11,
  kEventDescription = 12,
  kClockData = 29,
};

/// Number of bits in the bitmap of a file header.
inline constexpr std::uint32_t kFeatureBits = 256;

/// Whether convert_feature makes something of it.
bool is_used_feature(std::uint32_t feature);

/// The name under which a feature section is counted that is not kept; empty: it is, or it says how
/// the capture is packed.
std::string_view feature_loss(std::uint32_t feature);

/// Turns one feature section into metadata, build ids or event names.
/// Result: false when the section ends inside a field; what came before it is kept.
bool convert_feature(std::uint32_t feature, bytes::ByteCursor content, CaptureContext& context,
                     SideBand& side_band);

/// The metadata that an attribute gives: which clock the times are of.
void convert_clock(const Attr& attr, CaptureContext& context);

}  // namespace stackpack::perf
