// Profiles of V8 as a source of samples.
#pragma once

#include <cstdint>

#include "capture/byte_account.h"
#include "capture/callstack_sink.h"
#include "capture/read_control.h"
#include "capture/source_format.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::v8 {

/// Goes by the keys of nodes and events.
capture::Probe probe(const capture::CaptureHead& head);

struct ReadOptions {
  capture::ReadControl control;
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  ///< of nodes, samples and names
};

/// Reads what V8 profiles: .cpuprofile, .heapprofile and Chrome's traces with events ProfileChunk.
/// Sources of the formats: https://chromedevtools.github.io/devtools-protocol/v8/Profiler and
/// HeapProfiler; nothing but Chrome's sources describes the events of a trace.
///
/// A sample of the event `cpu` weighs the time to the next one, the last one that to the end. Its
/// thread is that of the profile; a file that is one profile has one thread. Frames are functions
/// in packages or scripts; `(program)` and `(garbage collector)` are recorded as frames without
/// callers, and so is `(idle)`, whose samples are idle. A node of a heap profile is a sample of the
/// event `heap` without a time.
/// Memory: nodes and samples, 12 bytes a sample.
/// Damage: samples of unknown nodes, without a time or of more than 4,096 frames, and parts of
///         profiles that do not begin are left out and counted.
/// Result: where the bytes went; an Error when the file is not JSON or has no profile, when a limit
///         is passed, when the sink fails, or when reading fails.
Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options);

/// This format, for the registry of all.
extern const capture::SourceFormat source_format;

}  // namespace stackpack::v8
