// Callstacks of several lines, as tracers and debuggers print them.
#pragma once

#include <cstddef>

#include "capture/byte_account.h"
#include "capture/callstack_sink.h"
#include "capture/format_probe.h"
#include "capture/read_control.h"
#include "capture/source_format.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::stacks {

/// Possible where the lines are those of one of kDialects, and one callstack at least is whole.
capture::Probe probe(const capture::CaptureHead& head);

struct ReadOptions {
  capture::ReadControl control;
  std::size_t max_line_bytes = std::size_t{8} << 20;
};

/// Streams the callstacks of a text into `sink`: of the dialect that most lines of its beginning
/// are of.
///
/// Each callstack, and each node of a call tree that has a weight of its own, is a sample without a
/// time. Names, images and source lines are as the text has them (SyntheticFrames).
/// Memory: the distinct names, and one callstack.
/// Damage: lines that are nothing of the dialect are skipped and counted, and callstacks without a
///         count or with more than 65,535 frames.
/// Result: where the bytes went; an Error only when no callstack can be read, when the sink fails,
///         or when reading fails.
Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options);

/// This format, for the registry of all.
extern const capture::SourceFormat source_format;

}  // namespace stackpack::stacks
