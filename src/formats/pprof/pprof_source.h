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

namespace stackpack::pprof {

/// Goes by the fields of a profile.proto, plain or in gzip, in any order.
capture::Probe probe(const capture::CaptureHead& head);

struct ReadOptions {
  capture::ReadControl control;
  std::size_t max_message_bytes = std::size_t{64} << 20;   ///< one sample, one location, ...
  std::uint64_t max_table_bytes = std::uint64_t{1} << 30;  ///< strings, locations, ... in all
};

/// Streams a profile into `sink`.
///
/// Each sample type becomes an event whose weights are the values of the samples; a sample which is
/// not zero in several types becomes one sample of each event, all with the time of the profile.
/// Labels pid, tid and comm become process and thread. A location with function names becomes a
/// frame for each of them (inlined functions first), see capture::SyntheticFrames; one without
/// becomes its address, and its mapping a module of every process.
///
/// `source` must be seekable: the tables stand after the samples, so that it is read twice.
/// Memory: the tables, at most max_table_bytes; one message. Compressed input is decompressed on
///         the way and never kept.
/// Damage: a message that makes no sense is skipped and counted; where the compressed stream or the
///         sequence of messages breaks, reading ends and the rest is counted.
/// Errors: kLimit of the options; kCorrupt when there is no sample type; those of sink and source.
Result<capture::ByteAccount> read_capture(io::ByteSource& source, capture::CallstackSink& sink,
                                          const ReadOptions& options);

/// This format, for the registry of all.
extern const capture::SourceFormat source_format;

}  // namespace stackpack::pprof
