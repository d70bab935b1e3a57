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

namespace stackpack::firefox {

/// Goes by the keys of its tables, threads and version.
capture::Probe probe(const capture::CaptureHead& head);

struct ReadOptions {
  capture::ReadControl control;
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  ///< of all columns and names
};

/// Reads the processed format of the Firefox Profiler: of all versions, whether threads share their
/// tables or, before version 60, have their own. Source of the format:
/// https://github.com/firefox-devtools/profiler/blob/main/docs-developer
///
/// Samples have the time of day where the file has one. A thread whose name ends with `[EVENT]` is
/// of that event, as stackpack writes it; else the event is `time`, `bytes` or `samples`, by the
/// type of weights. Frames are names in images; one that is called 0xADDRESS is `image+0xADDRESS`.
/// Markers and counters are counted, not kept.
/// Memory: the columns, 8 bytes a value.
/// Damage: samples whose callstack is not in the tables or has more than 4,096 frames are left out
///         and counted.
/// Result: where the bytes went; an Error when the file is not JSON or another format, when a limit
///         is passed, when the sink fails, or when reading fails.
Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options);

/// This format, for the registry of all.
extern const capture::SourceFormat source_format;

}  // namespace stackpack::firefox
