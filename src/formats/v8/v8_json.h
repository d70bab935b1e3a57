// The JSON of V8's profiles and of Chrome's traces, read event by event.
#pragma once

#include <cstdint>

#include "capture/callstack_sink.h"
#include "capture/read_control.h"
#include "formats/v8/v8_profile.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::v8 {

/// What a file has of what is understood here.
struct FileProfiles {
  std::optional<Profile> whole;  ///< the file is one profile
  TraceParts parts;              ///< of a trace, in the order of the file
  std::uint64_t other_events = 0;
  std::uint64_t lines = 0;  ///< facts about lines within functions
  std::uint64_t bytes = 0;  ///< of the file
};

/// Names of functions, threads and processes go to the sink at once. A trace may end anywhere,
/// which is counted. Memory: `max_bytes` of nodes, samples and texts. Errors: kCorrupt, kLimit,
/// kCancelled; those of the source.
Result<FileProfiles> read_profiles(io::ByteSource& source, capture::CallstackSink& sink,
                                   const capture::ReadControl& control, std::uint64_t max_bytes);

}  // namespace stackpack::v8
