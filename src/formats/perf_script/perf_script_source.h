#pragma once

#include <cstddef>
#include <span>

#include "capture/byte_account.h"
#include "capture/callstack_sink.h"
#include "capture/read_control.h"
#include "capture/source_format.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::perf_script {

/// Goes by the first line that is no comment: the first line of a sample.
capture::Probe probe(const capture::CaptureHead& head);

struct ReadOptions {
  capture::ReadControl control;
  std::size_t max_line_bytes = std::size_t{1} << 20;
};

/// Streams the text of `perf script`, with its default fields, into `sink`.
///
/// A sample has its time, thread, processor, event and period. A frame with a name is that name in
/// that image (SyntheticFrames); inlined calls belong to the function whose code they are. A frame
/// without a name is `image+0xADDRESS`, as perf gives addresses of user code in files, or
/// `0xADDRESS` in its image; without an image it is the address itself. Where the text has no
/// process ids, each thread is a process.
/// Memory: distinct names, threads, and one callstack.
/// Damage: lines that are nothing of that are skipped and counted, and samples with more than
///         65,535 frames or of more than 4,096 events.
/// Result: where the bytes went; an Error only when no sample can be read, when the sink fails, or
///         when reading fails.
Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options);

/// This format, for the registry of all.
extern const capture::SourceFormat source_format;

}  // namespace stackpack::perf_script
