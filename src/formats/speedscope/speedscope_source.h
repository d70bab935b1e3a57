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

namespace stackpack::speedscope {

/// Goes by the schema, or by the keys of profiles and frames.
capture::Probe probe(const capture::CaptureHead& head);

struct ReadOptions {
  capture::ReadControl control;
  std::uint64_t max_table_bytes = std::uint64_t{1} << 30;  ///< of names and weights
};

/// Reads speedscope's file format from a seekable source, twice.
/// Source of the format: https://www.speedscope.app/file-format-schema.json
///
/// A profile is a thread: that which its name ends with (`pid N tid M`, as stackpack writes it),
/// else one of process 1 with the number of its place. Of unit time, each sample and each interval
/// between events is a sample at its time that weighs its length; of other units samples have no
/// times. A name that ends with `[EVENT]` has the event; else it is `samples`.
/// Memory: the distinct names, and the weights, 8 bytes each.
/// Damage: unknown frames, samples without weight, events that do not fit, intervals deeper than
///         2,048 frames and samples deeper than 65,535 are left out and counted.
/// Result: where the bytes went; an Error when the file is not JSON, when a limit is passed, when
///         the sink fails, or when reading fails.
Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options);

/// This format, for the registry of all.
extern const capture::SourceFormat source_format;

}  // namespace stackpack::speedscope
