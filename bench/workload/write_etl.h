#pragma once

#include <cstdint>
#include <string>

#include "workload/workload.h"

namespace stackpack::bench {

/// How buffers are compressed.
enum class EtlPacking : std::uint8_t { kNone, kXpress, kXpressHuffman, kLznt1 };

/// Writes the workload as a 64-bit .etl file, as a kernel session with stack walking would: clock
/// samples as PerfInfo/SampledProfile, switches as Thread/CSwitch, wake-ups as Thread/ReadyThread,
/// each followed on its processor by one or two StackWalk events (kernel part, user part). Buffers
/// of 64 KiB, packed as `packing` says. About 290 bytes per callstack before compression.
/// Streams: one buffer per processor. Result: false when the file could not be written.
bool write_etl(const WorkloadOptions& options, const std::string& path, EtlPacking packing);

}  // namespace stackpack::bench
