#pragma once

#include "capture/byte_account.h"
#include "capture/callstack_sink.h"
#include "capture/dump_unwinder.h"
#include "capture/read_control.h"
#include "capture/source_format.h"
#include "formats/perf/perf_input.h"
#include "stackpack/result.h"

namespace stackpack::perf {

struct ReadOptions {
  capture::ReadControl control;
  capture::DumpUnwinder* unwinder = nullptr;  ///< the capture is read twice then: mappings first
};

/// Streams a whole capture into `sink`.
///
/// Memory: fixed windows, the attribute tables, open chains; nothing proportional to the input.
/// Damage: what can be read is read, the rest is counted in sink.losses().
/// Result: where the bytes went; an Error only when nothing can be read (not a perf.data file, no
///         usable attribute), when the sink fails, or when reading fails.
Result<capture::ByteAccount> read_capture(Input& input, capture::CallstackSink& sink,
                                          const ReadOptions& options);

/// This format, for the registry of all.
extern const capture::SourceFormat source_format;

}  // namespace stackpack::perf
