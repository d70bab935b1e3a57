#pragma once

#include <cstddef>
#include <span>

#include "capture/byte_account.h"
#include "capture/callstack_sink.h"
#include "capture/source_format.h"
#include "capture/system_recorder.h"
#include "formats/etl/etl_read_options.h"
#include "formats/etl/trace_summary.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::etl {

/// Keeps the totals of a trace as metadata, so that they can be compared with other readers of the
/// same trace: keys "etl.total.NAME", and "etl.event.KIND" for the number of events by kind.
void keep_trace_totals(const TraceSummary& summary, capture::SystemRecorder& system);

/// The most traces that are read together.
inline constexpr std::size_t kMostTraces = 64;

/// Streams a whole trace into `sink`, in clock order.
///
/// `input` must be seekable: pass 1 reads the buffer headers, pass 2 merges one open buffer per
/// processor.
/// Memory: bounded, as the options say; what the trace names without end goes to scratch.
/// Damage: what can be read is read, the rest is counted in sink.losses().
/// Result: where the bytes went; an Error only when nothing can be read (no log file header), when
///         the sink fails, or when reading fails.
Result<capture::ByteAccount> read_capture(io::ByteSource& input, capture::CallstackSink& sink,
                                          const ReadOptions& options);

/// The same for the traces of one recording session, which describe each other: what one says of
/// processes, threads and images holds for the events of all. Nothing depends on their order in
/// `inputs`; of traces with the same bytes, one is read.
///
/// The events of all go to `sink` in the order of time, on the clock of the earliest trace. Traces
/// whose clocks cannot be compared keep their own wall time, and are counted.
/// Memory: the limits of the options are shared out among the traces.
/// Errors: as read_capture(), Error::part is the number of the input; kUsage for no input,
///         kLimit for more than kMostTraces.
Result<capture::ByteAccount> read_session(std::span<io::ByteSource* const> inputs,
                                          capture::CallstackSink& sink, const ReadOptions& options);

capture::Probe probe(const capture::CaptureHead& head);

/// This format, for the registry of all.
extern const capture::SourceFormat source_format;

}  // namespace stackpack::etl
