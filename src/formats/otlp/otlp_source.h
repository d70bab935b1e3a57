#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "capture/byte_account.h"
#include "capture/callstack_sink.h"
#include "capture/source_format.h"
#include "formats/otlp/otlp_read_options.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::otlp {

/// Goes by the fields of ProfilesData and ExportProfilesServiceRequest, which have the same ones:
/// in protobuf, bare or with its length as 32 bits, most significant byte first, in front of each
/// message; or as JSON.
capture::Probe probe(const capture::CaptureHead& head);

/// Reads OpenTelemetry profiles from a seekable source, twice: the dictionary, then the samples.
///
/// Events: one for each sample type; `stackpack.event` of a Profile names it. Where samples are
/// counted and a period in nanoseconds is given, the event is that of the period, and a sample
/// weighs a period. Each timestamp of a sample is a sample; one without timestamps stands for as
/// many as its value says, at the beginning of its Profile. Threads and processes come from the
/// attributes `process.pid`, `thread.id`, `thread.name`, `process.executable.name`, the processor
/// from `cpu.logical_number`.
/// Frames are names in images, with build ids (SyntheticFrames); of a location without function
/// `image+0xoffset` or the address, as a text: addresses are within calls, not after them.
/// Memory: the dictionary, the names, one sample. JSON is made a message of protobuf first, which
/// is kept in memory.
/// Damage: what cannot be read is left out and counted; a broken message ends there.
/// Result: where the bytes went; an Error only when there is no dictionary or a limit is passed,
///         when the sink fails, or when reading fails.
Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options);

/// This format, for the registry of all.
extern const capture::SourceFormat source_format;

}  // namespace stackpack::otlp
