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

namespace stackpack::folded {

/// Goes by how many lines are callstacks with a count.
capture::Probe probe(const capture::CaptureHead& head);

struct ReadOptions {
  capture::ReadControl control;
  std::size_t max_line_bytes = std::size_t{8} << 20;
};

/// Streams folded stacks (`root;...;leaf COUNT`, one callstack a line) into `sink`.
///
/// A line becomes one sample of the event `samples` whose weight is COUNT; it has no time, process
/// or thread. A frame is a name: each distinct name becomes a module of one byte, owned by the
/// kernel pid so that every process sees it, and the frame is its address. The metadata keys
/// `frames.synthetic` and `samples.aggregated` show.
/// Memory: the distinct names, and one line.
/// Damage: a line without a count, with a NUL, longer than allowed or with more than 65,535 frames
///         is skipped and counted. A last line without its newline is read, and counted: a text
///         that was cut may have lost digits of its count.
/// Result: where the bytes went; an Error only when no line can be read, when the sink fails, or
///         when reading fails.
Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options);

/// This format, for the registry of all.
extern const capture::SourceFormat source_format;

}  // namespace stackpack::folded
