#pragma once

#include "capture/byte_account.h"
#include "capture/callstack_sink.h"
#include "capture/read_control.h"
#include "capture/source_format.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::nettrace {

struct ReadOptions {
  capture::ReadControl control;
  /// The source stays until the functions of the sink's system are finished: names of methods are
  /// read from there, if it is seekable, and not kept.
  bool source_stays = false;
};

/// Streams a .nettrace or .netperf file (EventPipe of .NET; versions 1 to 6) into `sink`.
///
/// Every event with a callstack becomes a sample, but for those by which the runtime says what code
/// there is. Samples of the runtime's profiler are the events `Managed` and `External` (the thread
/// was in native code or waited, which is no time on a processor); `cpu` and `cswitch` (weight:
/// nanoseconds that the thread was not running) are those of recorders of native code; others are
/// `Provider/Task/Opcode`.
/// Memory: a block, the callstacks between two sequence points, threads, kinds of events.
/// Damage: a row that cannot be read ends its block; what follows a place where the structure is
/// lost
///         is skipped. Both are counted. Events that the recorder lost are counted by the numbers
///         of those that are there.
/// Result: where the bytes went; an Error only when nothing can be read (unknown version, invalid
///         clock or pointer size, cut header), when the sink fails, or when reading fails.
Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options);

capture::Probe probe(const capture::CaptureHead& head);

/// This format, for the registry of all.
extern const capture::SourceFormat source_format;

}  // namespace stackpack::nettrace
