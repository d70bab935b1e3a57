#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "capture/byte_account.h"
#include "capture/callstack_sink.h"
#include "capture/read_control.h"
#include "capture/source_format.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::jfr {

/// Goes by the magic number of a chunk.
capture::Probe probe(const capture::CaptureHead& head);

struct ReadOptions {
  capture::ReadControl control;
  std::uint64_t max_table_bytes = std::uint64_t{1} << 30;  ///< constants of a chunk
};

/// Reads recordings of the JDK's Flight Recorder and of async-profiler, version 2 of the format,
/// chunk by chunk. Source of the layout:
/// https://github.com/openjdk/jdk/tree/master/src/hotspot/share/jfr/recorder and
/// https://github.com/async-profiler/async-profiler/blob/master/src/flightRecorder.cpp
///
/// Every event with a callstack is a sample of the event that its type is called, at its time of
/// day. It weighs the bytes or the time that the event says (see kWeights); one of a type without
/// such a field weighs 1. Samples of threads that do not run are of an event of their own,
/// `TYPE/STATE`. Frames are names (SyntheticFrames): `package.Class.method`, with the descriptor in
/// the linkage name and the line; native ones lie in the library that the recorder names. Inlined
/// calls are frames, as they are recorded.
/// Memory: the constants of one chunk.
/// Damage: what cannot be read is left out and counted, by event or, where the sequence of events
///         breaks, the rest of the chunk. A chunk that was not finished is read as far as it goes.
/// Result: where the bytes went; an Error when the first chunk is none or of another version, when
///         a limit is passed, when the sink fails, or when reading fails.
Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options);

/// This format, for the registry of all.
extern const capture::SourceFormat source_format;

}  // namespace stackpack::jfr
