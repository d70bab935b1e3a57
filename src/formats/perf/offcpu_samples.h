#pragma once

#include <cstdint>

#include "bytes/byte_cursor.h"
#include "formats/perf/attr_table.h"
#include "formats/perf/sample.h"

namespace stackpack::perf {

/// Times of samples from here on stand for none: perf record --off-cpu writes sums of a thread and
/// callstack when the recording is over, and gives them such times. Source:
/// tools/perf/util/bpf_off_cpu.c.
inline constexpr std::uint64_t kNoSampleTime = 0xFFFF'FFFF'0000'0000;

/// Newer samples of --off-cpu have everything in RAW: {u32 pid, u32 tid} of a sum, in the other
/// order of a wait that was written when it ended; u64 ns, u64 n, n u64 of a callchain that begins
/// with the marker of user mode, u64 cgroup. Puts what is there into `fields`, as if they had
/// PERIOD and CALLCHAIN. False: another sample.
bool read_offcpu_sample(const AttrTable::Row& row, SampleFields& fields);

}  // namespace stackpack::perf
